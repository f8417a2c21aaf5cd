"""Whether `keyword` on a claude-obsidian index answers as that product does, and how fast:
`python benchmarks/parity.py --sets DIR --product-root DIR [--only NAME] [--queries N]`.

`--sets`: each folder holds `vault/` and `queries*.json`. Of each set, the vault is copied, the copy indexed by the product's own
commands (unless it holds `.vault-meta` already), and a sample of the queries, evenly spread, put to both: to the product as one
process a query, and to `keyword` in this process, on the same index. Both give every page of the best `--chunks` chunks.
Equal means: the same pages in the same order, each with the same score to six decimals; pages whose scores are equal so far may
stand in any order, and at the end of the pool any of them may be cut off.

Exit: 0 every answer was equal; 1 one was not, or nothing was asked; 2 a command of the product failed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path.insert(0, str(SCRIPTS))

from vault_eval.errors import VaultEvalError  # noqa: E402 - after its folder is on the path
from vault_eval.index.vault_meta.places import vault_meta_folder  # noqa: E402
from vault_eval.model import RankedPage, Ranking  # noqa: E402
from vault_eval.retrievers.protocol import Retriever, RetrieverContext  # noqa: E402
from vault_eval.retrievers.select import open_retriever  # noqa: E402
from vault_eval.retrievers.spec import parse_specs  # noqa: E402
from vault_eval.vault.snapshot import open_snapshot  # noqa: E402

QUERIES = 60
CHUNKS = 100
FAILED = 2
# The product rounds its scores to six decimals.
SCORE_TOLERANCE = 1e-6
SHOWN_MAX = 5


class CommandFailedError(Exception):
    """A command of the product ended with another exit code than 0, or it did not answer a query."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One line of the table. Milliseconds are medians a query; seconds are all queries, opening the index included."""

    name: str
    pages: int
    chunks: int
    queries: int
    equal: int
    returned: int  # pages that the product gave, over all queries
    product_ms: float
    native_ms: float
    product_seconds: float
    native_seconds: float
    different: tuple[str, ...]  # the first queries of which the answers differ


def compare(name: str, vault: Path, product_root: str, queries: Sequence[str], chunks: int) -> Compared:
    """Ask both the same queries on the same index."""
    with open_snapshot(str(vault)) as snapshot:
        started = time.perf_counter()
        native = open_retriever(parse_specs(["keyword"])[0], RetrieverContext(snapshot, str(vault)))
        opened = time.perf_counter() - started
        spec = parse_specs([f"claude-obsidian:bm25-top={chunks}"])[0]
        product = open_retriever(spec, RetrieverContext(snapshot, "", product_root=product_root))
        theirs, product_times = _ask(product, queries, lambda _: chunks)
        ours, native_times = _ask(native, queries, lambda place: max(1, len(theirs[place].pages)))
        different = [query for query, one, other in zip(queries, theirs, ours, strict=True) if not equal(one.pages, other.pages)]
        index = native.index()
        native.close()
        product.close()
    return Compared(
        name,
        index.pages if index is not None else 0,
        index.chunks if index is not None else 0,
        len(queries),
        len(queries) - len(different),
        sum(len(one.pages) for one in theirs),
        1000 * median(product_times),
        1000 * median(native_times),
        sum(product_times),
        opened + sum(native_times),
        tuple(different[:SHOWN_MAX]),
    )


def equal(theirs: Sequence[RankedPage], ours: Sequence[RankedPage]) -> bool:
    """Whether both are as long and in the order of their scores, and a page has the same score in both.

    A page that only one of them holds must have the last score: where pages of equal score are cut off is chance.
    """
    scores = [{ranked.page: ranked.score or 0.0 for ranked in ranking} for ranking in (theirs, ours)]
    if len(theirs) != len(ours) or any(list(one.values()) != sorted(one.values(), reverse=True) for one in scores):
        return False
    one, other = scores
    last = min(one.values(), default=0.0)
    return all(abs(one.get(page, last) - other.get(page, last)) <= SCORE_TOLERANCE for page in one.keys() | other.keys())


def _ask(searcher: Retriever, queries: Sequence[str], depth: Callable[[int], int]) -> tuple[list[Ranking], list[float]]:
    """The answers, and the seconds of each. CommandFailedError where a query was not answered."""
    answers, seconds = [], []
    for place, query in enumerate(queries):
        started = time.perf_counter()
        ranking = searcher.search(query, depth(place))
        seconds.append(time.perf_counter() - started)
        if ranking.error is not None:
            raise CommandFailedError(f"{query!r}: {ranking.error}")
        answers.append(ranking)
    return answers, seconds


def prepare(vault: Path, product_root: str) -> None:
    """Build the product's index of a vault with its own commands."""
    if vault_meta_folder(str(vault)) is not None:
        return
    for script, *options in (("contextual-prefix.py", "--all", "--no-llm"), ("bm25-index.py", "build")):
        command = [sys.executable, str(Path(product_root) / "scripts" / script), "--vault", str(vault), *options]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode(errors="replace")[-500:]
            raise CommandFailedError(f"{' '.join(command)}\nexit code {done.returncode}: {said}")


def sample(files: Sequence[Path], size: int) -> list[str]:
    """That many distinct queries, evenly spread over the label files in their order."""
    queries = [one["query"] for file in files for one in json.loads(file.read_text(encoding="utf-8"))["queries"]]
    distinct = list(dict.fromkeys(queries))
    size = min(size, len(distinct))
    return [distinct[place * len(distinct) // size] for place in range(size)]


def compare_all(options: argparse.Namespace) -> Iterator[Compared]:
    """Each set, in a temporary copy that is deleted before the next begins."""
    for folder in sorted(options.sets.iterdir()):
        files = sorted(folder.glob("queries*.json"))
        if files and (folder / "vault" / "wiki").is_dir() and (not options.only or folder.name in options.only):
            with tempfile.TemporaryDirectory(prefix="vault-eval-parity-") as place:
                vault = Path(place) / "vault"
                shutil.copytree(folder / "vault", vault)
                prepare(vault, options.product_root)
                yield compare(folder.name, vault, options.product_root, sample(files, options.queries), options.chunks)


def heading() -> str:
    """The names of the columns."""
    times = f"{'theirs ms':>10} {'ours ms':>8} {'theirs s':>9} {'ours s':>7} {'times':>6}"
    return f"{'set':24} {'pages':>6} {'chunks':>7} {'queries':>8} {'equal':>6} {'returned':>9} {times}"


def line(one: Compared) -> str:
    """The set as a line of the table; `times` is all queries of theirs over all of ours, opening included."""
    times = f"{one.product_ms:10.1f} {one.native_ms:8.2f} {one.product_seconds:9.2f} {one.native_seconds:7.2f}"
    ratio = one.product_seconds / one.native_seconds
    return f"{one.name:24} {one.pages:6,} {one.chunks:7,} {one.queries:8,} {one.equal:6,} {one.returned:9,} {times} {ratio:6.0f}"


def arguments() -> argparse.Namespace:
    """The command line; ends the program with 2 where it is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", metavar="DIR", type=Path, required=True, help="folders with vault/wiki/ and queries*.json")
    parser.add_argument("--product-root", metavar="DIR", required=True, help="a checkout of claude-obsidian")
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help="compare these alone")
    parser.add_argument("--queries", metavar="N", type=int, default=QUERIES, help=f"queries of a set ({QUERIES})")
    parser.add_argument("--chunks", metavar="N", type=int, default=CHUNKS, help=f"chunks considered, 1 to 1,000 ({CHUNKS})")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the table as JSON too")
    options = parser.parse_args()
    if not options.sets.is_dir():
        parser.error(f"{options.sets} is no folder")
    if options.queries < 1:
        parser.error("--queries is 1 or more")
    return options


def main() -> int:
    """Compare, print a line a set, and decide."""
    options = arguments()
    print(heading())
    compared: list[Compared] = []
    try:
        for one in compare_all(options):
            print(line(one), flush=True)
            for query in one.different:
                print(f"  differs: {query!r}")
            compared.append(one)
    except (CommandFailedError, VaultEvalError) as error:
        print(f"parity: {error}", file=sys.stderr)
        return FAILED
    print(f"load average {os.getloadavg()[0]:.2f}; Python {sys.version.split()[0]}")
    if options.json is not None:
        content = {"python": sys.version.split()[0], "sets": [asdict(one) for one in compared]}
        options.json.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0 if compared and all(one.equal == one.queries for one in compared) else 1


if __name__ == "__main__":
    raise SystemExit(main())
