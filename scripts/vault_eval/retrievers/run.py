"""`run:FILE`: a run that another tool has made, kept by query id; nothing is searched.

A TREC run, the JSON of ranx and pytrec_eval, or the answer of `_rank_eval`. Score decides the order, then the rank column. In
TREC a name cannot hold a blank: it is `%20`, and a per cent sign `%25`.
"""

from __future__ import annotations

from collections.abc import Mapping

from vault_eval.digests import sha256_hex
from vault_eval.errors import UnreadableFileError, UsageError
from vault_eval.interop.records import ForeignRun
from vault_eval.interop.runs import read_run
from vault_eval.limits import RUN_FILE_MAX_BYTES
from vault_eval.model import Ranking, RetrieverDescription
from vault_eval.retrievers.external_results import FoundPage, ranking_of
from vault_eval.retrievers.protocol import RetrieverContext
from vault_eval.retrievers.spec import Spec
from vault_eval.retrievers.without_index import WithoutIndex
from vault_eval.vault.note_text import decode_utf8
from vault_eval.vault.paths import quoted
from vault_eval.vault.reader import read_outside

NEEDS_INDEX = False


def open_retriever(spec: Spec, context: RetrieverContext) -> RunFile:
    """The rankings of a run file, read once and whole.

    Raises UsageError with the line for what is no run, where it knows none of the labels, and where labels with one query text
    have different rankings; UnreadableFileError for a file that is absent, a link, too large or not UTF-8.
    """
    if not spec.rest:
        raise UsageError("--retriever run: names no file; write run:FILE")
    data = read_outside(spec.rest, RUN_FILE_MAX_BYTES)
    name = f"the run {quoted(spec.rest)}"
    try:
        run = read_run(decode_utf8(data), name)
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{name}: {error}") from None
    _refuse_other_labels(run, context.label_ids, name)
    _refuse_disagreement(run, context.label_ids, name)
    return RunFile(spec.text, run, sha256_hex(data), context)


class RunFile(WithoutIndex):
    """Answers by the id of the label that asks; a query that it lacks has an empty answer: TREC says that in no other way."""

    why_no_cold = why_no_warm = "a saved run is read, and nothing is searched"

    def __init__(self, name: str, run: ForeignRun, sha256: str, context: RetrieverContext) -> None:
        self._name = name
        self._run = run
        self._sha256 = sha256
        self._ids = context.label_ids
        self._root = context.vault.root
        self._pages = frozenset(context.vault.names)

    def describe(self) -> RetrieverDescription:
        """The digest of the file, the tag in it, and how its query ids and the labels' ids meet."""
        labels = {one for ids in self._ids.values() for one in ids}
        settings = {
            "sha256": self._sha256,
            "tag": self._run.tag or None,
            "order": "score, then rank",
            "queries": len(self._run.rankings),
            "queries_without_label": len(self._run.rankings.keys() - labels),
            "labels_without_ranking": len(labels - self._run.rankings.keys() - self._run.errors.keys()),
        }
        return RetrieverDescription(self._name, settings)

    def search(self, query: str, depth: int) -> Ranking:
        """The ranking of the label with this text; an error where no label has it."""
        if query not in self._ids:
            return Ranking((), error="a run answers the queries of labels alone")
        label_id = self._ids[query][0]
        if label_id in self._run.errors:
            return Ranking((), error=f"the tool failed on it: {self._run.errors[label_id]}")
        ranking = self._run.rankings.get(label_id, ())
        return ranking_of([FoundPage(one.page, one.score) for one in ranking], self._pages, self._root, depth)


def _refuse_other_labels(run: ForeignRun, label_ids: Mapping[str, tuple[str, ...]], name: str) -> None:
    known = run.rankings.keys() | run.errors.keys()
    wanted = [one for ids in label_ids.values() for one in ids]
    if wanted and known.isdisjoint(wanted):
        found = f"its queries have other ids, such as {quoted(min(known))}" if known else "it is empty"
        raise UsageError(f"{name} answers none of the labels, whose ids are such as {quoted(wanted[0])}: {found}")


def _refuse_disagreement(run: ForeignRun, label_ids: Mapping[str, tuple[str, ...]], name: str) -> None:
    for query, ids in label_ids.items():
        if len({run.rankings.get(one, ()) for one in ids}) > 1:
            named = ", ".join(map(quoted, ids))
            raise UsageError(f"{name}: the query {quoted(query)} has the ids {named}, with different rankings; keep one of them")
