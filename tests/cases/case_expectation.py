"""What an outcome lacks of what a case expects, in words; an empty list is a pass. README.md explains the keys."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

from case_program import Bench, Outcome

OUTPUT_MAX_CHARACTERS = 30_000
INDEX_KEYS = {"pages", "index_names", "headings", "heading_of", "chunks_at_least", "index_bytes_at_most"}
KEYS = INDEX_KEYS | {
    *("exit", "says", "never_says", "rows", "metrics", "counts", "stale", "shows", "seconds_at_most", "megabytes_at_most"),
    *("also", "after_rebuild", "environment", "never_exists", "delta", "worse", "better", "same"),
}
FOUND = {"status": "scored", "recall": {"1": 1, "5": 1, "10": 1}, "rr": 1}
MISSED = {"status": "scored", "recall": {"1": 0, "5": 0, "10": 0}, "rr": 0}


def differences(expected: dict[str, object], outcome: Outcome) -> Iterator[str]:
    """Every difference between one evaluation and what was expected of it."""
    yield from (f"the expectation {key!r} is not known" for key in expected.keys() - KEYS)
    yield from bounds(expected, outcome)
    yield from _words(expected, outcome)
    if outcome.code not in _exits(expected):
        yield f"exit {outcome.code}, expected {expected['exit']}: {outcome.err[-400:]}"
    elif outcome.code in (0, 1, 3):
        yield from _report(expected, outcome)
    elif outcome.out.strip():
        yield f"exit {outcome.code}, but something on stdout: {outcome.out[:200]!r}"


def bounds(expected: dict[str, object], outcome: Outcome) -> Iterator[str]:
    """Time, memory, and a traceback: these hold for building as for evaluating."""
    if "Traceback (most recent call last)" in outcome.err + outcome.out or outcome.code == 70:
        yield f"a traceback or a fault: {outcome.err[-600:]}"
    if len(outcome.err) > OUTPUT_MAX_CHARACTERS:
        yield f"{len(outcome.err):,} characters on stderr"
    if outcome.seconds > expected.get("seconds_at_most", math.inf):
        yield f"it took {outcome.seconds:.1f} s"
    if outcome.megabytes > expected.get("megabytes_at_most", math.inf):
        yield f"it took {outcome.megabytes:.0f} MB"


def index_differences(expected: dict[str, object], printed: Outcome, bench: Bench) -> Iterator[str]:
    """What the index holds other than expected; `printed` is what `index --format json` said."""
    yield from _pages(expected, printed, bench.folder / bench.vault)
    size = sum(path.stat().st_size for path in bench.index_folder.glob("*"))
    if size > expected.get("index_bytes_at_most", math.inf):
        yield f"the index has {size:,} bytes"


def rows_of(outcome: Outcome) -> dict[str, dict[str, object]]:
    return {row["id"]: row for row in outcome.run["queries"]}


def row_differences(rows: dict[str, object], found: dict[str, dict[str, object]]) -> Iterator[str]:
    """Rows of a report against those expected, which may be written short."""
    for name, short in rows.items():
        row = found.get(name)
        if row is None:
            yield f"there is no row {name!r}"
            continue
        for key, wanted in _whole(short).items():
            got = _value(row, key)
            if not _agrees(key, wanted, got):
                yield f"{name}: {key} is {got!r}, expected {wanted!r}; ranking {_ranking(row)}"


def _exits(expected: dict[str, object]) -> list[int]:
    wanted = expected.get("exit", 0)
    return wanted if isinstance(wanted, list) else [wanted]


def _words(expected: dict[str, object], outcome: Outcome) -> Iterator[str]:
    said = (outcome.err + outcome.out).casefold()
    for words in expected.get("says", []):
        if not any(word.casefold() in said for word in ([words] if isinstance(words, str) else words)):
            yield f"it says none of {words}: {outcome.err[-400:]}"
    yield from (f"it says {word!r}" for word in expected.get("never_says", []) if word in outcome.err + outcome.out)


def _report(expected: dict[str, object], outcome: Outcome) -> Iterator[str]:
    try:
        run, rows = outcome.run, rows_of(outcome)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        yield f"no report: {error!r}: {outcome.out[:200]!r}"
        return
    yield from _laws(rows)
    yield from row_differences(expected.get("rows", {}), rows)
    for name, (value, n) in expected.get("metrics", {}).items():
        metric = run["metrics"].get(f"mrr@{run['depth']}" if name == "mrr" else name, {})
        if not _close(metric.get("value"), value) or metric.get("n") != n:
            yield f"{name} is {metric.get('value')} (n {metric.get('n')}), expected {value} (n {n})"
    for name, count in expected.get("counts", {}).items():
        if run["counts"].get(name) != count:
            yield f"{run['counts'].get(name)} {name}, expected {count}"
    if "stale" in expected and run["index"]["skipped_stale"] != expected["stale"]:
        yield f"{run['index']['skipped_stale']} stale chunks, expected {expected['stale']}"


def _laws(rows: dict[str, dict[str, object]]) -> Iterator[str]:
    """What holds for every report: a page once, ranks from 1, best score first, equal scores by path, recall a share."""
    for name, row in rows.items():
        hits = row.get("ranking") or []
        order = [(-hit["score"], hit["page"]) for hit in hits]
        if len({hit["page"] for hit in hits}) != len(hits) or order != sorted(order):
            yield f"{name}: a ranking that is none: {order}"
        if [hit["rank"] for hit in hits] != list(range(1, len(hits) + 1)):
            yield f"{name}: ranks {[hit['rank'] for hit in hits]}"
        if any(share is not None and not 0 <= share <= 1 for share in (row.get("recall") or {}).values()):
            yield f"{name}: recall {row['recall']}"


def _whole(short: object) -> dict[str, object]:
    if isinstance(short, dict):
        return short
    if isinstance(short, str):
        return {**FOUND, "first": short} if short.endswith(".md") else {"status": short}
    return FOUND if short else MISSED


def _ranking(row: dict[str, object]) -> list[str]:
    return [hit["page"] for hit in row.get("ranking") or []]


def _value(row: dict[str, object], key: str) -> object:
    if key == "first":
        return (_ranking(row) or [None])[0]
    if key in ("returned", "ranked", "must_rank", "must_not_rank"):
        return _ranking(row)
    return row.get("query" if key == "query_text" else key)


def _agrees(key: str, wanted: object, got: object) -> bool:
    if key == "ranked":
        return got[: len(wanted)] == wanted
    if key == "must_rank":
        return set(wanted) <= set(got)
    if key == "must_not_rank":
        return not set(wanted) & set(got)
    if key == "recall":
        return got is not None and all(_close(got.get(cutoff), share) for cutoff, share in wanted.items())
    return _close(got, wanted)


def _close(got: object, wanted: object) -> bool:
    numbers = isinstance(got, (int, float)) and isinstance(wanted, (int, float)) and not isinstance(wanted, bool)
    return abs(got - wanted) < 1e-9 if numbers else got == wanted


def _pages(expected: dict[str, object], printed: Outcome, vault: Path) -> Iterator[str]:
    pages = {page["path"]: page["chunks"] for page in printed.report["pages"]}
    if len(pages) != expected.get("pages", len(pages)):
        yield f"{len(pages)} pages, expected {expected['pages']}: {sorted(pages)}"
    said = json.dumps(printed.report["skipped"], ensure_ascii=False) + printed.err
    yield from (f"the index is silent about {name!r}: {said}" for name in expected.get("index_names", []) if name not in said)
    for page, least in expected.get("chunks_at_least", {}).items():
        if len(pages.get(page, [])) < least:
            yield f"{page} has {len(pages.get(page, []))} chunks, expected {least} at least"
    for page, headings in expected.get("headings", {}).items():
        found = list(map(list, dict.fromkeys(tuple(chunk["heading"]) for chunk in pages.get(page, []))))
        if found != headings:
            yield f"{page} has the headings {found}, expected {headings}"
    for page, words in expected.get("heading_of", {}).items():
        text = (vault / page).read_bytes().decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        for word, heading in words.items():
            spans = [(chunk["heading"], lines[chunk["lines"][0] - 1 : chunk["lines"][1]]) for chunk in pages.get(page, [])]
            above = [path for path, span in spans if word in "\n".join(span)]
            if heading not in above:
                yield f"{page}: {word!r} stands under {above}, expected {heading}"
