"""The rules that every label format shares: schemas and their keys, ids, gold lists, duplicates.

Every fault is reported at its place, none is guessed away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from vault_eval import launcher
from vault_eval.digests import sha256_hex
from vault_eval.errors import MissingPackageError
from vault_eval.labels.problems import Place
from vault_eval.limits import LABEL_GOLD_PAGES_MAX
from vault_eval.model import Label, Target
from vault_eval.nearest import nearest
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import is_pdf, page_name, quoted
from vault_eval.vault.targets import TargetError, parse_target, target_text

PLAIN_SCHEMA = "claude-obsidian.retrieval-queries.v1"
EXTENDED_SCHEMA = "vault-eval.labels.v1"
PLAIN_KEYS = ("id", "query", "expected_pages", "category", "skip_reason")
EXTRA_KEYS = ("tags", "split", "origin", "note", "collection", "grades", "hashes")
SPLITS = ("dev", "holdout")

_DERIVED_ID_DIGITS = 12


def normalise_query(text: str) -> str:
    """The query as it is searched and compared: Unicode NFC, white space folded to single blanks, trimmed."""
    return " ".join(page_name(text).split())


def query_id(query: str) -> str:
    """The id of a query without one: the first 12 hexadecimal digits of the SHA-256 of the normalised text."""
    return sha256_hex(query.encode())[:_DERIVED_ID_DIGITS]


def report_duplicates(labels: Iterable[tuple[Label, Place]]) -> None:
    """Reports ids that are used twice, in one file or in several, and warns of one query under two ids."""
    by_id: dict[str, tuple[Label, Place]] = {}
    by_query: dict[str, tuple[Label, Place]] = {}
    for label, place in labels:
        earlier, earlier_place = by_id.setdefault(label.id, (label, place))
        if earlier is not label:
            if earlier.query == label.query:
                place.problem(
                    f"the query {quoted(label.query)} is there twice with the id {quoted(label.id)}, first at {earlier_place}"
                )
            else:
                both = f"by the queries {quoted(earlier.query)} and {quoted(label.query)}"
                place.problem(f"duplicate id {quoted(label.id)}, used {both}, first at {earlier_place}; ids must differ")
            continue
        twin, twin_place = by_query.setdefault(label.query, (label, place))
        if twin is not label:
            ids = f"{quoted(twin.id)} and {quoted(label.id)}"
            first = f"first at {twin_place.by_base_name}"
            place.warn(f"the query {quoted(label.query)} stands under two ids, {ids}, {first}; both are counted")


def report_unknown_keys(keys: Iterable[str], allowed: Sequence[str], place: Place) -> None:
    """Reports each key that is not allowed, with the allowed one it may be a slip of."""
    for key in keys:
        if key in allowed:
            continue
        near = nearest(key, allowed)
        if key in EXTRA_KEYS and "expected_pages" in allowed:
            hint = f" (allowed with the schema {EXTENDED_SCHEMA!r})"
        else:
            hint = f" (did you mean {near[0]!r}?)" if near else ""
        place.problem(f"unknown key {quoted(key)}{hint}; allowed are {', '.join(allowed)}")


def kind_of(value: JsonValue) -> str:
    """What a JSON value is, in words for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    return {str: "a string", list: "a list", dict: "an object"}[type(value)]


def path_targets(value: JsonValue, place: Place, key: str, resolve: Callable[[str], Target]) -> tuple[Target, ...]:
    """The gold places of a list of paths; `resolve` turns one text into a target or raises TargetError."""
    if not isinstance(value, list):
        hint = "write [] if no page is expected" if value is None else "write a list, even for one page"
        place.problem(f"{key} is {kind_of(value)}; it must be a list of paths: {hint}")
        return ()
    if too_many(len(value), place, key):
        return ()
    read = (_path_target(item, place, key, resolve) for item in value)
    return tuple(target for target in read if target is not None)


def too_many(count: int, place: Place, key: str) -> bool:
    """Whether a gold list is longer than allowed, which is then reported."""
    if count > LABEL_GOLD_PAGES_MAX:
        place.problem(f"{key} names {count:,} pages; at most {LABEL_GOLD_PAGES_MAX} are allowed")
    return count > LABEL_GOLD_PAGES_MAX


def report_repeated_targets(targets: Sequence[Target], place: Place, key: str) -> None:
    """Reports gold that is written twice, in any Unicode form."""
    for target in (target for target, times in Counter(targets).items() if times > 1):
        place.problem(f"{key} names the path {quoted(target_text(target))} twice; write it once")


def _path_target(item: JsonValue, place: Place, key: str, resolve: Callable[[str], Target]) -> Target | None:
    if not isinstance(item, str):
        place.problem(f'{key} holds {kind_of(item)} where a string is needed; an Obsidian link must be quoted: "[[Note]]"')
        return None
    try:
        return usable_target(item, resolve)
    except TargetError as error:
        place.problem(f"{key}: {error}")
        return None


def usable_target(text: str, resolve: Callable[[str], Target] = parse_target) -> Target:
    """The gold place named by `text`. Raises TargetError where it cannot be one, or is a PDF where none can be read.

    MissingPackageError for that PDF in an interpreter that commands do not go on in: the one that takes over may read it.
    """
    target = resolve(text)
    if not is_pdf(target.page) or not launcher.missing_packages(["pypdf"]):
        return target
    problem = (
        f"the path {quoted(target.page)} is a PDF, which needs the extra [pdf]; it is not installed: name a note instead, or run "
        f"index --pdf after {launcher.install_command(['pdf'])}"
    )
    if launcher.missing_packages(launcher.RUNTIME_PACKAGES):
        raise MissingPackageError(problem)
    raise TargetError(problem)
