"""How well the default search does on public labelled sets: `python benchmarks/quality.py --sets DIR [--vaults DIR]`.

`--sets`: each folder holds `vault/` and `queries*.json`. `--vaults`: each folder is a vault without labels; like a set without
label files, it is asked its own aliases, each of which should find the notes that carry it. Everything goes through
the shipped commands, into a temporary folder. Files of one set are evaluated one by one, and their rows joined.

Exit: 0 every figure reaches its reference; 1 one does not; 2 a command failed. Run it with an interpreter that has the packages.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import fsum, isclose, log2
from pathlib import Path
from typing import Any, TypeAlias

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path.insert(0, str(SCRIPTS))

from vault_eval.labels.rules import normalise_query  # noqa: E402 - after its folder is on the path
from vault_eval.limits import LABEL_GOLD_PAGES_MAX, LABEL_QUERIES_MAX  # noqa: E402
from vault_eval.vault.note import parse_note  # noqa: E402
from vault_eval.vault.note_text import decode  # noqa: E402

# nDCG@10, the better of two searches on the same sets: plain BM25 over whole notes (k1 1.5, b .75), claude-obsidian 2.1.0.
REFERENCE_NDCG = {
    "adi": 0.4365,
    "cranfield": 0.3626,
    "scifact": 0.6646,
    "xquad-en": 0.9584,
    "xquad-tr": 0.8960,
    "xquad-zh": 0.9595,
    "xquad-en-articles": 0.9797,
    "known-en-obsidian-tasks": 0.6368,
}
ALLOWANCE = 0.005  # below it another search is no better, only lucky
INFORMATIVE = frozenset({"adi"})  # 35 queries over 82 notes: one query moves the mean by .03
ALIAS_RECALL_MIN = {"zh-oldwinter-garden": 0.95}
FIGURES = ("recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10")
FAILED = 2

Row: TypeAlias = "dict[str, Any]"


class CommandFailedError(Exception):
    """A shipped command ended with another exit code than 0, or its figures contradict its rows."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the table; figures are None without queries, `needed` is None without a reference."""

    name: str
    labels: str  # "given" or "aliases"
    notes: int
    chunks: int
    skipped: int
    queries: int
    figures: Mapping[str, float | None]
    index_seconds: float
    evaluate_seconds: float
    needed: float | None
    verdict: str  # "ok", "MISS", "ok (informative)", "MISS (informative)", "-"


@dataclass(frozen=True, slots=True)
class Commands:
    """The shipped commands with a data folder of their own."""

    data: Path

    def json(self, script: str, *arguments: object) -> tuple[Any, float]:
        """What the command printed, and the seconds that the whole process took."""
        command = [sys.executable, str(SCRIPTS / script), *map(str, arguments), "--data", str(self.data), "--format", "json"]
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, check=False)
        seconds = time.perf_counter() - started
        if done.returncode:
            raise CommandFailedError(f"{' '.join(command)}\nexit code {done.returncode}: {done.stderr.decode(errors='replace')}")
        return json.loads(done.stdout), seconds


def measure(name: str, vault: Path, label_files: Sequence[Path], commands: Commands, folder: Path) -> Measured:
    """One line: index the vault, evaluate each label file (made from aliases where there is none), join the rows."""
    index = folder / "index"
    content, index_seconds = commands.json("vault-eval.py", "index", "--vault", vault, "--index", index)
    pages = [one["path"] for one in content["pages"]]
    labels = "given" if label_files else "aliases"
    rows: list[Row] = []
    evaluate_seconds = 0.0
    for file in label_files or write_alias_labels(vault, frozenset(pages), folder):
        places = ("--vault", vault, "--index", index, "--queries", file, "--out", folder / "report.json")
        report, seconds = commands.json("evaluate-retrieval.py", *places, "--cold-samples", "0")
        rows += checked_rows(report)
        evaluate_seconds += seconds
    figures = means(rows)
    needed, verdict = judge(name, labels, figures)
    chunks = sum(len(one["chunks"]) for one in content["pages"])
    counts = (len(pages), chunks, len(content["skipped"]), len(rows))
    return Measured(name, labels, *counts, figures, index_seconds, evaluate_seconds, needed, verdict)


def checked_rows(report: Mapping[str, Any]) -> list[Row]:
    """The scored rows. CommandFailedError where the report's own means do not follow from them."""
    run = report["runs"][0]
    rows = [row for row in run["queries"] if row["status"] == "scored"]
    for name, value in means(rows).items():
        said = run["metrics"][name]["value"]
        if (said is None) != (value is None) or (value is not None and not isclose(said, value, abs_tol=1e-9)):
            raise CommandFailedError(f"{name}: the report says {said}, its rows give {value}")
    return rows


def means(rows: Sequence[Row]) -> dict[str, float | None]:
    """The figures of the table over scored rows without grades; None without rows."""
    columns = {f"recall@{cutoff}": [row["recall"][str(cutoff)] for row in rows] for cutoff in (1, 5, 10)}
    columns |= {"mrr@10": [row["rr"] for row in rows], "ndcg@10": [ndcg(row) for row in rows]}
    return {name: fsum(values) / len(values) if values else None for name, values in columns.items()}


def ndcg(row: Row) -> float:
    """Binary nDCG@10 of a row, from the ranks of its gold pages."""
    found = fsum(1 / log2(rank + 1) for rank in row["ranks"].values() if rank is not None and rank <= 10)
    return found / fsum(1 / log2(rank + 1) for rank in range(1, min(10, len(row["expected"])) + 1))


def judge(name: str, labels: str, figures: Mapping[str, float | None]) -> tuple[float | None, str]:
    """The value needed, and whether it was reached: nDCG@10 for given labels, recall@10 for aliases."""
    figure = figures["ndcg@10" if labels == "given" else "recall@10"]
    reference = REFERENCE_NDCG.get(name)
    needed = ALIAS_RECALL_MIN.get(name) if labels == "aliases" else reference and round(reference - ALLOWANCE, 4)
    if needed is None:
        return None, "-"
    verdict = "ok" if figure is not None and figure >= needed else "MISS"
    return needed, verdict + (" (informative)" if name in INFORMATIVE else "")


def write_alias_labels(vault: Path, pages: frozenset[str], folder: Path) -> list[Path]:
    """Label files in which each alias of a page asks for all pages that carry it; none where no page has one."""
    gold: dict[str, list[str]] = {}
    for page, alias in _aliases(vault, pages):
        gold.setdefault(normalise_query(alias), []).append(page)
    asked = [(alias, carriers) for alias, carriers in sorted(gold.items()) if alias and len(carriers) <= LABEL_GOLD_PAGES_MAX]
    queries = [
        {"id": f"alias-{number:05d}", "query": alias, "expected_pages": sorted(carriers)}
        for number, (alias, carriers) in enumerate(asked, start=1)
    ]
    files = []
    for start in range(0, len(queries), LABEL_QUERIES_MAX):
        file = folder / f"aliases-{start // LABEL_QUERIES_MAX + 1}.json"
        document = {"schema": "claude-obsidian.retrieval-queries.v1", "queries": queries[start : start + LABEL_QUERIES_MAX]}
        file.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
        files.append(file)
    return files


def _aliases(vault: Path, pages: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Every (page, alias) once, of the pages that were indexed."""
    for path in sorted(vault.rglob("*")):
        page = unicodedata.normalize("NFC", path.relative_to(vault).as_posix())
        if page in pages:
            for alias in dict.fromkeys(map(normalise_query, parse_note(decode(path.read_bytes())).aliases)):
                yield page, alias


def find_sets(sets: Path | None, vaults: Path | None) -> Iterator[tuple[str, Path, list[Path]]]:
    """Name, vault and label files of everything there is to measure, sorted by name."""
    for folder in _folders(sets):
        if (folder / "vault").is_dir():
            yield folder.name, folder / "vault", sorted(folder.glob("queries*.json"))
    for folder in _folders(vaults):
        yield folder.name, folder, []


def _folders(parent: Path | None) -> list[Path]:
    return sorted(path for path in parent.iterdir() if path.is_dir()) if parent else []


def line(one: Measured) -> str:
    """The set as a line of the table."""
    figures = " ".join(f"{'-' if value is None else format(value, '.4f'):>9}" for value in map(one.figures.get, FIGURES))
    needed = "-" if one.needed is None else f"{'R@10 ' if one.labels == 'aliases' else ''}{one.needed:.4f}"
    times = f"{one.index_seconds:8.2f} {one.evaluate_seconds:8.2f}"
    return f"{one.name:24} {one.notes:6,} {one.chunks:7,} {one.queries:7,} {figures} {times} {needed:>11} {one.verdict}"


def heading() -> str:
    """The names of the columns; `index s` and `eval s` are seconds of whole processes."""
    figures = " ".join(f"{name:>9}" for name in FIGURES)
    return f"{'set':24} {'notes':>6} {'chunks':>7} {'queries':>7} {figures} {'index s':>8} {'eval s':>8} {'needed':>11} verdict"


def arguments() -> argparse.Namespace:
    """The command line; ends the program with 2 where it is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", metavar="DIR", type=Path, help="folders with vault/ and queries*.json")
    parser.add_argument("--vaults", metavar="DIR", type=Path, help="folders that are vaults without labels")
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help="measure these alone")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the table as JSON too")
    options = parser.parse_args()
    for folder in (options.sets, options.vaults):
        if folder is not None and not folder.is_dir():
            parser.error(f"{folder} is no folder")
    if options.sets is None and options.vaults is None:
        parser.error("name --sets, --vaults or both")
    return options


def measure_all(found: Iterable[tuple[str, Path, list[Path]]]) -> Iterator[Measured]:
    """Each set, measured in a temporary folder that is deleted before the next begins."""
    with tempfile.TemporaryDirectory(prefix="vault-eval-quality-") as data:
        for name, vault, files in found:
            with tempfile.TemporaryDirectory(prefix="vault-eval-quality-") as folder:
                yield measure(name, vault, files, Commands(Path(data)), Path(folder))


def main() -> int:
    """Measure, print a line a set, and decide."""
    options = arguments()
    found = [one for one in find_sets(options.sets, options.vaults) if not options.only or one[0] in options.only]
    loads = [os.getloadavg()[0]]
    print(heading())
    measured = []
    try:
        for one in measure_all(found):
            print(line(one), flush=True)
            measured.append(one)
    except CommandFailedError as error:
        print(f"quality: {error}", file=sys.stderr)
        return FAILED
    loads.append(os.getloadavg()[0])
    print(f"load average {loads[0]:.2f} before, {loads[1]:.2f} after; Python {sys.version.split()[0]}")
    if options.json is not None:
        content = {"load_average": loads, "python": sys.version.split()[0], "sets": [asdict(one) for one in measured]}
        options.json.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    missed = [one.name for one in measured if one.verdict == "MISS"]
    if missed:
        print(f"below the reference: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed or not measured else 0


if __name__ == "__main__":
    raise SystemExit(main())
