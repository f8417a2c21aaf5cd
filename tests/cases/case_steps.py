"""One case from its files to the list of what is wrong: lay out, take the steps, look at what came of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from case_expectation import INDEX_KEYS, bounds, differences, index_differences, row_differences, rows_of
from case_input import lay_file, lay_out
from case_program import Bench, Outcome

STEPS = ({"index": []}, {"evaluate": []})
# Labels are read before the index: where they are refused, and nothing is asked of the index, there need not be one.
REFUSED = ({"evaluate": []},)
NOT_HERE = "this file system cannot hold the input: "


def outcome_of(case: dict[str, object], bench: Bench) -> list[str]:
    """All that differs from what the case expects."""
    try:
        lay_out(case, bench.folder)
    except (OSError, UnicodeError) as error:
        # On Linux every input can be made; elsewhere names in two Unicode forms, or none, may not go.
        if sys.platform == "linux":
            raise
        return [f"{NOT_HERE}{error}"]
    expected = case["expected"]
    return [*_main(case, expected, bench), *_afterwards(expected, bench)]


def _main(case: dict[str, object], expected: dict[str, object], bench: Bench) -> Iterator[str]:
    refused = expected.get("exit") == 2 and not INDEX_KEYS & expected.keys()
    refused &= all(also["expected"].get("exit") == 2 for also in expected.get("also", ()))
    for step in case.get("steps", REFUSED if refused else STEPS):
        ((kind, value),) = step.items()
        if kind == "index":
            yield from _index_differences(expected, bench.index(*value, "--format", "json"), bench)
        elif kind == "evaluate":
            outcome = bench.evaluate(*value, environment=expected.get("environment"))
            yield from differences(expected, outcome)
        else:
            _change(kind, value, bench)


def _index_differences(expected: dict[str, object], built: Outcome, bench: Bench) -> Iterator[str]:
    yield from bounds(expected, built)
    if built.code != 0:
        yield f"index: exit {built.code}: {built.err[-300:]}"
    else:
        yield from index_differences(expected, built, bench)


def _change(kind: str, value: object, bench: Bench) -> None:
    if kind == "delete":
        (bench.folder / value).unlink()
    elif kind == "write":
        lay_file(bench.folder / value[0], value[1])
    elif kind == "move":
        (bench.folder / value[0]).rename(bench.folder / value[1])
    elif kind == "touch":
        os.utime(bench.folder / value, (1_000_000_000, 1_000_000_000))
    elif kind == "replace":
        # Only the bytes tell: size and times stay as they were.
        path = bench.folder / value[0]
        before = path.stat()
        path.write_bytes(path.read_bytes().replace(value[1].encode(), value[2].encode()))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    else:
        raise ValueError(f"the step {kind!r} is not known")


def _afterwards(expected: dict[str, object], bench: Bench) -> Iterator[str]:
    for also in expected.get("also", ()):
        outcome = bench.evaluate(*also.get("args", ()), labels=also.get("labels"), vault=also.get("vault"))
        found = differences(also["expected"], outcome)
        yield from (f"with {also.get('args') or also.get('labels') or also.get('vault')}: {one}" for one in found)
    if "shows" in expected:
        text = bench.evaluate(form="text").out
        yield from (f"the text does not show {word!r}" for word in expected["shows"] if word not in text)
    if "after_rebuild" in expected:
        bench.index()
        yield from row_differences(expected["after_rebuild"], rows_of(bench.evaluate()))
    yield from (f"{path} was made" for path in expected.get("never_exists", ()) if (bench.folder / path).exists())
