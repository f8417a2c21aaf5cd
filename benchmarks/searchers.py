"""Several searchers on public labelled sets, as one table: `python benchmarks/searchers.py --sets DIR SET… -r SPEC -r SPEC…`.

Each set is a folder below `--sets` with `vault/` and `queries*.json`. All of a set's searchers are measured by the shipped
`bench` in one run; the rows of its label files are joined. `--sample N` asks only the first N queries of each file: for
searchers that start a process for every query. `--product-root DIR` and `--data DIR` are passed on; with `--data`, indexes
and vectors that were built there before are used.

Exit: 0 the table was printed; 2 a command failed. Run it with an interpreter that has the packages.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

from quality import FAILED, FIGURES, CommandFailedError, Commands, Row, means


@dataclass(frozen=True, slots=True)
class Line:
    """One searcher on one set; figures are means over `n` scored queries, times medians in milliseconds."""

    searcher: str
    n: int
    errors: int
    figures: Mapping[str, float | None]
    warm_ms: float | None
    cold_ms: float | None


def measure(folder: Path, options: argparse.Namespace, commands: Commands) -> list[Line]:
    """A line a searcher, its rows joined over the label files of the set."""
    vault = folder / "vault"
    commands.json("vault-eval.py", "index", "--vault", vault, *(["--vectors", options.vectors] if options.vectors else []))
    searchers = [word for spec in options.retriever for word in ("-r", spec)]
    product = ["--product-root", options.product_root] if options.product_root else []
    reports = []
    for file in label_files(folder, options.sample, commands.data):
        places = ["--vault", vault, "--queries", file, "--out", commands.data / "report.json"]
        bench = [*places, *searchers, *product, "--cold-samples", options.cold_samples]
        reports.append(commands.json("evaluate-retrieval.py", *bench)[0])
    return [
        line([report["runs"][place] for report in reports], [report["timing"]["runs"][place] for report in reports])
        for place in range(len(reports[0]["runs"]))
    ]


def label_files(folder: Path, sample: int | None, data: Path) -> Iterator[Path]:
    """The label files of a set, cut to the first queries where a sample is asked for."""
    for file in sorted(folder.glob("queries*.json")):
        if sample is None:
            yield file
            continue
        content = json.loads(file.read_text(encoding="utf-8"))
        content["queries"] = content["queries"][:sample]
        cut = data / f"{folder.name}-{file.name}"
        cut.write_text(json.dumps(content), encoding="utf-8")
        yield cut


def line(runs: Sequence[Row], timings: Sequence[Row]) -> Line:
    """One searcher's runs over the label files of a set."""
    rows = [row for run in runs for row in run["queries"] if row["status"] == "scored"]
    times = [one for timing in timings for one in timing["queries"].values()]
    warm, cold = ([one[kind] for one in times if one[kind] is not None] for kind in ("warm_ms", "cold_ms"))
    errors = sum(run["counts"]["error"] for run in runs)
    name = runs[0]["retriever"]["name"]
    return Line(name, len(rows), errors, means(rows), median(warm) if warm else None, median(cold) if cold else None)


def table(name: str, lines: Sequence[Line]) -> Iterator[str]:
    """One set as a Markdown table."""
    yield from (
        "",
        f"### {name}",
        "",
        f"| searcher | n | {' | '.join(FIGURES)} | warm p50 ms | cold p50 ms |",
        "|:--|" + "--:|" * 8,
    )
    for one in lines:
        figures = " | ".join(shown(one.figures[figure], 4) for figure in FIGURES)
        times = " | ".join(shown(time, 1) for time in (one.warm_ms, one.cold_ms))
        failed = f" ({one.errors} failed)" if one.errors else ""
        yield f"| `{one.searcher}`{failed} | {one.n:,} | {figures} | {times} |"


def shown(value: float | None, digits: int) -> str:
    """A figure, or that there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("names", nargs="+", metavar="SET")
    made.add_argument("--sets", type=Path, required=True, metavar="DIR")
    made.add_argument("--retriever", "-r", action="append", required=True, metavar="SPEC")
    made.add_argument("--vectors", metavar="MODEL", help="build vectors of this model with the index")
    made.add_argument("--product-root", metavar="DIR")
    made.add_argument("--sample", type=int, metavar="N")
    made.add_argument("--cold-samples", type=int, default=20, metavar="N")
    made.add_argument("--data", type=Path, metavar="DIR")
    return made


def main() -> int:
    """The exit code."""
    options = parser().parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    print(f"{datetime.now(timezone.utc):%Y-%m-%d}, depth 10, {machine}")
    with tempfile.TemporaryDirectory() as temporary:
        data = options.data or Path(temporary)
        for name in options.names:
            try:
                print("\n".join(table(name, measure(options.sets / name, options, Commands(data)))), flush=True)
            except CommandFailedError as error:
                print(error, file=sys.stderr)
                return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
