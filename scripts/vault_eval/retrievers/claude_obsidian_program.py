"""The program of claude-obsidian: started for one query, bounded in time and output, and what it prints as typed records."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass

from vault_eval import strict_json
from vault_eval.errors import UsageError
from vault_eval.index.vault_meta.places import unusable
from vault_eval.limits import EXTERNAL_ANSWER_MAX_BYTES
from vault_eval.retrievers.answers import AnswerError, json_of, score_of
from vault_eval.retrievers.bounded_process import Finished, ProcessFailedError, run_bounded
from vault_eval.retrievers.external_results import FoundPage
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import FileRefusedError

_SCRIPT = "scripts/retrieve.py"
_MANIFEST = ".claude-plugin/plugin.json"
_MANIFEST_MAX_BYTES = 65_536
_VERSION = re.compile(r"[\w.+-]{1,40}")
_NO_INDEX_CODE = 10
_PROBE = "index"


@dataclass(frozen=True, slots=True)
class Product:
    """A checkout of claude-obsidian and the vault that it is asked about."""

    root: str
    vault: str
    timeout_seconds: float

    def ask(self, query: str, chunks: int) -> Finished:
        """One process for one query: all pages of the best `chunks`. Raises ProcessFailedError."""
        # -B: no compiled files appear in the checkout; utf8: what it prints does not depend on the locale.
        python = [sys.executable, "-I", "-B", "-X", "utf8", os.path.join(self.root, _SCRIPT)]
        options = ["--vault", self.vault, "--no-rerank", "--explain", "--top", str(chunks), "--bm25-top", str(chunks)]
        return run_bounded(
            [*python, *options, "--", query],
            cwd=None,
            env=None,
            stdin=None,
            timeout_seconds=self.timeout_seconds,
            max_bytes=EXTERNAL_ANSWER_MAX_BYTES,
        )

    def refuse_unready(self) -> None:
        """Raises UsageError where there is no such program or it fails, IndexUnusableError where it has no index to search."""
        if not os.path.isfile(os.path.join(self.root, _SCRIPT)):
            found = f"there is no {_SCRIPT}" if os.path.isdir(self.root) else "there is no such folder"
            raise UsageError(f"--product-root {self.root!r}: {found}; name a checkout of claude-obsidian")
        try:
            probed = self.ask(_PROBE, 1)
        except ProcessFailedError as failure:
            raise UsageError(f"--product-root {self.root!r}: {failure}") from None
        if probed.returncode == _NO_INDEX_CODE:
            raise unusable(f"claude-obsidian cannot search this vault: it said {_said(probed)}", self.vault)
        if probed.returncode:
            raise UsageError(f"--product-root {self.root!r}: {_failure(probed)}")

    def version(self) -> str | None:
        """What its manifest says; None where that is nothing usable."""
        try:
            with FolderReader(self.root) as reader:
                manifest = strict_json.loads(reader.read(_MANIFEST, _MANIFEST_MAX_BYTES).decode("utf-8"))
        except (FileRefusedError, ValueError):
            return None
        version = manifest.get("version") if isinstance(manifest, dict) else None
        return version if isinstance(version, str) and _VERSION.fullmatch(version) else None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the product printed: pages, chunks considered, and how many of these it dropped."""

    found: tuple[FoundPage, ...]
    chunks: int
    stale_chunks: int


def answer_of(finished: Finished) -> Answer:
    """The answer of a process that ended. Raises AnswerError where it failed, and where its output has another form."""
    if finished.returncode:
        raise AnswerError(_failure(finished))
    try:
        value = json_of(finished.stdout.decode("utf-8"))
    except UnicodeDecodeError:
        raise AnswerError("gave an answer that is not UTF-8") from None
    candidates = value.get("candidates") if isinstance(value, dict) else None
    told = value.get("explain") if isinstance(value, dict) else None
    if not isinstance(candidates, list) or not isinstance(told, dict):
        raise AnswerError(f"gave no candidates with their explanation, but {quoted(strict_json.dumps(value))}")
    counts = (told.get("bm25_candidate_count"), told.get("stale_candidates_skipped"))
    chunks, stale = (count if type(count) is int and count >= 0 else 0 for count in counts)
    return Answer(tuple(map(_found, candidates)), chunks, stale)


def _found(candidate: JsonValue) -> FoundPage:
    members = candidate if isinstance(candidate, dict) else {}
    path = members.get("page_path")
    if not isinstance(path, str):
        raise AnswerError("gave a candidate without a page_path")
    return FoundPage(path, score_of(members.get("bm25_score"), path))


def _failure(finished: Finished) -> str:
    return f"ended with exit code {finished.returncode} and said {_said(finished)}"


def _said(finished: Finished) -> str:
    """The line of stderr that names the error, else its last one, to be shown."""
    lines = [line.strip() for line in finished.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return quoted(next((line for line in lines if line.startswith("ERR")), lines[-1] if lines else ""))
