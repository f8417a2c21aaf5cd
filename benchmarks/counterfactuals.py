"""Whether "rank 3 if the note contained this word" comes true: `python benchmarks/counterfactuals.py --sets DIR`.

`--sets`: each folder holds `vault/` and `queries*.json`. Of each set named by `--names`, a temporary copy is indexed and asked;
of the missed pages, `--misses` of a set are taken by a seeded draw, and one of the ranks foretold for each. The note is then
edited exactly as the foretelling says: after the line that it names, an empty line, the word, an empty line. The index is
built again by the shipped step, the query asked again, and rank and score compared, the score to the last bit; then the
note is put back.

Exit: 0 at least fifty misses were tried and every rank and score came true; 1 otherwise; 2 a set is not there.
Run it with an interpreter that has the packages.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path.insert(0, str(SCRIPTS))

from vault_eval.diagnosis.misses import SearchedPages, Wanted, diagnose  # noqa: E402 - after its folder is on the path
from vault_eval.index.build import build_index, no_progress  # noqa: E402
from vault_eval.index.options import IndexOptions  # noqa: E402
from vault_eval.limits import METRIC_CUTOFF_PAGES  # noqa: E402
from vault_eval.retrievers.keyword import KeywordRetriever  # noqa: E402
from vault_eval.retrievers.protocol import Counterfactual, RetrieverContext  # noqa: E402
from vault_eval.retrievers.select import open_retriever  # noqa: E402
from vault_eval.retrievers.spec import parse_specs  # noqa: E402
from vault_eval.vault.note_text import decode  # noqa: E402
from vault_eval.vault.snapshot import open_snapshot  # noqa: E402

NAMES = ("cranfield", "scifact", "xquad-tr", "known-en-obsidian-tasks")
MISSES_NEEDED = 50
SEED = 11
FAILED = 2


@dataclass(frozen=True, slots=True)
class Foretold:
    """One missed page of one query, and where it is said to stand with one word more."""

    query: str
    page: str
    cause: str
    would: Counterfactual


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of one set: misses there were, those with a rank foretold, those tried, and those that came true."""

    name: str
    missed: int
    foretold: int
    tried: int
    true: int


@contextmanager
def searching(vault: Path, index: Path) -> Iterator[KeywordRetriever]:
    """The default searcher over the vault as it is now, its index built first."""
    with open_snapshot(str(vault)) as snapshot:
        build_index(snapshot.reader, snapshot.listing, IndexOptions(), str(index), snapshot.id, time.time_ns(), no_progress)
        searcher = open_retriever(parse_specs(["keyword"])[0], RetrieverContext(snapshot, str(index)))
        if not isinstance(searcher, KeywordRetriever):
            raise TypeError("keyword is not the keyword searcher")
        try:
            yield searcher
        finally:
            searcher.close()


def missed_pages(vault: Path, searcher: KeywordRetriever, labels: Path) -> Iterator[tuple[str, str]]:
    """Every query with each of its existing gold pages that is not among the first ten."""
    for label in json.loads(labels.read_text(encoding="utf-8"))["queries"]:
        query = " ".join(label["query"].split())
        found = {ranked.page for ranked in searcher.search(query, METRIC_CUTOFF_PAGES).pages}
        for page in label["expected_pages"]:
            if page not in found and (vault / page).is_file():
                yield query, page


def foretell(vault: Path, searcher: KeywordRetriever, missed: Sequence[tuple[str, str]], rng: random.Random) -> list[Foretold]:
    """For each miss one of the ranks that its diagnosis foretells."""
    pages = SearchedPages({}, {}, lambda page: decode((vault / page).read_bytes()))
    found = []
    for query, page in missed:
        ranking = searcher.search(query, METRIC_CUTOFF_PAGES)
        why = diagnose(query, page, ranking, searcher, pages, Wanted(exact=True, rivals=False))
        if why.counterfactuals:
            found.append(Foretold(query, page, why.cause, rng.choice(why.counterfactuals)))
    return found


def edit(text: str, would: Counterfactual) -> str:
    """The text with the word in a line of its own after the line named, an empty line before and after it."""
    lines = text.split("\n")
    return "\n".join([*lines[: would.after_line], "", would.term, "", *lines[would.after_line :]])


def comes_true(vault: Path, index: Path, foretold: Foretold) -> bool:
    """Whether rank and score are those foretold once the note is edited and the index built again; the note is put back."""
    note = vault / foretold.page
    before, would = note.read_bytes(), foretold.would
    try:
        note.write_bytes(edit(decode(before), would).encode())
        with searching(vault, index) as searcher:
            ranked = searcher.search(foretold.query, would.rank + 1).pages
    finally:
        note.write_bytes(before)
    found = next(((one.rank, one.score) for one in ranked if one.page == foretold.page), None)
    if found != (would.rank, would.score):
        print(f"  {foretold.page} ({foretold.cause}) with {would.term!r}: foretold {would}, found {found}")
    return found == (would.rank, would.score)


def try_set(folder: Path, misses: int, work: Path) -> Tally:
    """One set: foretold on a copy, then tried."""
    vault, index, rng = work / "vault", work / "index", random.Random(SEED)
    shutil.copytree(folder / "vault", vault)
    with searching(vault, index) as searcher:
        missed = [one for labels in sorted(folder.glob("queries*.json")) for one in missed_pages(vault, searcher, labels)]
        drawn = rng.sample(missed, min(len(missed), 2 * misses))
        foretold = foretell(vault, searcher, drawn, rng)
    tried = foretold[:misses]
    true = sum(comes_true(vault, index, one) for one in tried)
    return Tally(folder.name, len(missed), round(len(missed) * len(foretold) / max(1, len(drawn))), len(tried), true)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code; the table goes to stdout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sets", type=Path, required=True, metavar="DIR")
    parser.add_argument("--names", nargs="+", default=NAMES, metavar="NAME", help="the sets to try (default: all four)")
    parser.add_argument("--misses", type=int, default=30, metavar="N", help="at most so many of each set (default: 30)")
    chosen = parser.parse_args(arguments)
    absent = [name for name in chosen.names if not (chosen.sets / name / "vault").is_dir()]
    if absent:
        print(f"{chosen.sets}: not there: {', '.join(absent)}", file=sys.stderr)
        return FAILED
    tallies = []
    print(f"{'set':<26}{'missed':>8}{'foretold':>10}{'tried':>7}{'true':>6}")
    for name in chosen.names:
        with tempfile.TemporaryDirectory() as work:
            one = try_set(chosen.sets / name, chosen.misses, Path(work))
        print(f"{one.name:<26}{one.missed:>8}{'~' + str(one.foretold):>10}{one.tried:>7}{one.true:>6}", flush=True)
        tallies.append(one)
    tried, true = sum(one.tried for one in tallies), sum(one.true for one in tallies)
    print(f"{tried} misses tried, {true} as foretold ({100 * true / max(1, tried):.1f} %)")
    return 0 if tried >= MISSES_NEEDED and true == tried else 1


if __name__ == "__main__":
    raise SystemExit(main())
