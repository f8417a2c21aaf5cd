"""The shipped example, measured with the same read-only evaluator: its own temporary vault, index and all.

One page is changed after the index was built, to show that its stale text is not returned. The figures show behaviour,
not how good search is on a real vault.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from vault_eval.digests import sha256_hex
from vault_eval.errors import UsageError
from vault_eval.evaluation import Clock, evaluate_with_snippets
from vault_eval.index.build import build_index, no_progress
from vault_eval.index.options import IndexOptions
from vault_eval.limits import NOTE_MAX_BYTES
from vault_eval.reports.document import Fixture, FixtureFile, Report
from vault_eval.reports.snippets import Snippets
from vault_eval.request import Request
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import FileRefusedError
from vault_eval.vault.snapshot import open_snapshot

STALE_PAGE = "Fuel dock.md"
# What stands in the page after it was indexed: any change makes the old text stale.
_ADDED_LINE = "\nFrom this week on the hours are on the board at the gate.\n"
_ROOT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "fixtures", "original")
_PAGES, _LABELS = "pages", "queries.json"


def run_fixture(request: Request, clock: Clock, source: str = _ROOT) -> tuple[Report, Snippets]:
    """The report on the shipped example, and its snippets; `request` says what to measure with.

    Everything is made in a temporary folder, which is deleted. Raises UsageError where the example's files are absent.
    """
    with temporary_vault(source) as folder:
        provisioned = provision(os.path.join(folder, "vault"), source)
        index = os.path.join(folder, "index")
        _build(provisioned, index, clock)
        make_stale(provisioned)
        labels = os.path.join(folder, _LABELS)
        shutil.copyfile(os.path.join(source, _LABELS), labels)
        asked = replace(request, vault=provisioned, queries=(labels,), index=index)
        report, snippets = evaluate_with_snippets(asked, clock)
    return replace(report, fixture=Fixture(fixture_files(source), STALE_PAGE), vault_name="fixture"), snippets


def example_notes(source: str = _ROOT) -> str:
    """The folder of the example's notes, to which nothing is written. Raises UsageError where its files are absent."""
    fixture_files(source)
    return os.path.realpath(os.path.join(source, _PAGES))


def provision(destination: str, source: str = _ROOT) -> str:
    """Copy the example's pages to `destination`, which must not exist yet; returns its physical path.

    Raises UsageError for an existing path, and where the example's files are absent: no other notes are ever taken.
    """
    if os.path.lexists(destination):
        raise UsageError(f"{destination!r} exists already; name a folder that does not: nothing is overwritten")
    files = [one.path for one in fixture_files(source) if one.path.startswith(f"{_PAGES}/")]
    for path in files:
        place = os.path.join(destination, *path.split("/")[1:])
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copyfile(os.path.join(source, *path.split("/")), place)
    return os.path.realpath(destination)


def make_stale(vault: str) -> None:
    """Change the one page whose old text must not be returned afterwards."""
    with open(os.path.join(vault, STALE_PAGE), "a", encoding="utf-8", newline="") as page:
        page.write(_ADDED_LINE)


def fixture_files(source: str = _ROOT) -> tuple[FixtureFile, ...]:
    """Every page and the labels of the example with their SHA-256, sorted by path. Raises UsageError where they are absent."""
    unavailable = f"source fixture unavailable: {source!r} lacks its pages or {_LABELS}; install vault-eval again"
    try:
        with FolderReader(source) as reader:
            paths = [*_walk(reader, _PAGES), _LABELS]
            files = tuple(FixtureFile(path, sha256_hex(reader.read(path, NOTE_MAX_BYTES))) for path in sorted(paths))
    except (FileRefusedError, UsageError) as error:
        raise UsageError(f"{unavailable} ({error})") from None
    if len(files) == 1:
        raise UsageError(unavailable)
    return files


@contextmanager
def temporary_vault(source: str) -> Iterator[str]:
    """A temporary folder that is deleted afterwards, whatever happens; made only when the example is there."""
    fixture_files(source)
    folder = tempfile.mkdtemp(prefix="vault-eval-fixture-")
    try:
        yield os.path.realpath(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _walk(reader: FolderReader, folder: str) -> Iterator[str]:
    for entry in reader.list(folder):
        path = f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(reader, path)
        elif not entry.name.startswith("."):
            yield path


def _build(vault: str, folder: str, clock: Clock) -> None:
    with open_snapshot(vault) as snapshot:
        started_ns = int(clock.started.timestamp() * 1e9)
        build_index(snapshot.reader, snapshot.listing, IndexOptions(), folder, snapshot.id, started_ns, no_progress)
