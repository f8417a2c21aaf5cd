"""From what another searcher printed to pages of the vault: exact paths only, and what names no page is counted."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote

from vault_eval.model import RankedPage, Ranking
from vault_eval.vault.paths import page_name, quoted

_SAME_MACHINE = ("", "localhost")


@dataclass(frozen=True, slots=True)
class FoundPage:
    """One answer as the searcher gave it: `path` in its own form, `score` on its own scale, None where it gives none."""

    path: str
    score: float | None = None
    heading: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None


def ranking_of(found: Sequence[FoundPage], pages: frozenset[str], root: str, depth: int, *, prefix: str = "") -> Ranking:
    """The first `depth` distinct pages in the order returned, the first answer of a page counts; no order by score.

    `pages` are the vault's, `root` its physical path. Distinct paths that name none of them are counted in `outside_vault`,
    those without `prefix` among them; it is taken off the others, as the name of a collection that stands before them.
    A score that is no finite number makes the answer an error: an order made with it means nothing. Scores that do not fall
    in the order returned, such as distances, are no scores: all pages of the answer have None.
    """
    broken = next((one for one in found if one.score is not None and not math.isfinite(one.score)), None)
    if broken is not None:
        return Ranking((), error=f"the score of {quoted(broken.path)} is {broken.score}, no finite number")
    first: dict[str, FoundPage] = {}
    outside: set[str] = set()
    for one in found:
        page = page_of(one.path.removeprefix(prefix), root) if one.path.startswith(prefix) else None
        if page is None or page not in pages:
            outside.add(one.path)
        else:
            first.setdefault(page, one)
    is_scored = _falls([one.score for one in first.values() if one.score is not None])
    kept = list(first.items())[:depth]
    ranked = tuple(
        RankedPage(rank, page, one.score if is_scored else None, one.heading, one.lines)
        for rank, (page, one) in enumerate(kept, 1)
    )
    return Ranking(ranked, outside_vault=len(outside))


def _falls(scores: Sequence[float]) -> bool:
    return all(upper >= lower for upper, lower in pairwise(scores))


def page_of(path: str, root: str) -> str | None:
    """The page that a path names, or None where it cannot lie in the vault; whether there is such a page is not asked.

    Understood: vault-relative with `/`, with or without `./`; absolute, through links too; `file://` on this machine; each in
    any Unicode form. Letter case, suffix and folders must be exact: a base name that several notes share would name any.
    """
    if path[:7].lower() == "file://":
        host, slash, rest = path[7:].partition("/")
        if host not in _SAME_MACHINE:
            return None
        path = unquote(slash + rest, errors="surrogateescape")
    if "\0" in path:
        return None
    if os.path.isabs(path):
        return _below(os.path.realpath(path), root)
    return page_name(_with_slashes(path.removeprefix("./")))


def _below(path: str, root: str) -> str | None:
    whole, folder = page_name(_with_slashes(path)), page_name(_with_slashes(root)).rstrip("/") + "/"
    return whole[len(folder) :] if whole.startswith(folder) else None


def _with_slashes(path: str) -> str:
    return path if os.sep == "/" else path.replace(os.sep, "/")
