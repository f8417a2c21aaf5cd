"""A BEIR folder: `queries.jsonl`, `qrels/SPLIT.tsv` with a header, and on request `corpus.jsonl`.

Our split is the name of the qrels file: `dev`, `holdout`, and `test` for labels without one. A query that no page answers
has no row, so `unanswerable.json` lists those by split.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vault_eval.interop.carried import Part, best_grades, ids_shown, kept, left_out, loss
from vault_eval.interop.fields import lines_of_objects, top_object
from vault_eval.interop.records import Judgment, Topic, Written
from vault_eval.interop.tokens import WHOLE_NUMBER
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import SPLITS
from vault_eval.strict_json import dumps
from vault_eval.vault.paths import quoted

NAME = "beir"
CARRIES = frozenset({Part.QUERY, Part.NEGATIVE, Part.GRADES, Part.REFUSED, Part.SPLIT})
QUERIES = "queries.jsonl"
UNANSWERABLE = "unanswerable.json"
CORPUS = "corpus.jsonl"
_QRELS = re.compile(r"qrels/([^/]+)\.tsv")
_NO_SPLIT = "test"
_HEADER = ["query-id", "corpus-id", "score"]


@dataclass(slots=True)
class _Judged:
    """What the files beside the queries say of one of them."""

    split: str
    by_target: dict[str, Judgment] = field(default_factory=dict)


def is_read(path: str) -> bool:
    """Whether `read_folder` takes the file of this path below the folder."""
    return path in (QUERIES, UNANSWERABLE) or _QRELS.fullmatch(path) is not None


def read_folder(files: Mapping[str, str], place: Place) -> tuple[Topic, ...]:
    """The judged queries in the order of `queries.jsonl`; those that no file judges are left out with a warning.

    Reported at file and line: no header, a score that is no whole number, a pair or an id twice, a query in two splits, a
    judgment of a query that has no text.
    """
    if QUERIES not in files:
        place.problem(f"there is no {QUERIES}; name the folder that holds it, and qrels/SPLIT.tsv beside it")
        return ()
    judged: dict[str, _Judged] = {}
    for path in sorted(files):
        name = _QRELS.fullmatch(path)
        if name is not None:
            _add_rows(judged, _rows(files[path], path, place), name[1])
    if UNANSWERABLE in files:
        _add_unanswerable(judged, files[UNANSWERABLE], _below(place, UNANSWERABLE))
    _warn_of_splits({one.split for one in judged.values()}, place)
    return _topics(files[QUERIES], judged, _below(place, QUERIES))


def write_labels(topics: Sequence[Topic]) -> Written:
    """The queries, their judgments by page and split, and the queries that no page answers."""
    carried = kept(topics, CARRIES)
    files = {QUERIES: "".join(f"{dumps({'_id': topic.id, 'text': topic.query})}\n" for topic in carried)}
    splits = dict.fromkeys([topic.split or _NO_SPLIT for topic in carried] or [_NO_SPLIT])
    for split in splits:
        of_split = [topic for topic in carried if (topic.split or _NO_SPLIT) == split]
        files[f"qrels/{split}.tsv"] = _rows_text(topic for topic in of_split if topic.relevant)
    negatives = {split: [one.id for one in carried if not one.relevant and (one.split or _NO_SPLIT) == split] for split in splits}
    if any(negatives.values()):
        files[UNANSWERABLE] = dumps({split: ids for split, ids in negatives.items() if ids}, spread=1) + "\n"
    refused = [one.id for one in carried if one.judgments and not one.relevant]
    lost = loss("pages judged not relevant where none is expected", refused, topics)
    return Written(files, (*left_out(topics, CARRIES), *lost))


def write_corpus(notes: Iterable[tuple[str, str]]) -> str:
    """`corpus.jsonl` of notes (path, text): it holds their whole text, so it is only made where it is asked for."""
    lines = ({"_id": path, "title": path.rpartition("/")[2].rpartition(".")[0], "text": text} for path, text in notes)
    return "".join(f"{dumps(line)}\n" for line in lines)


def _rows_text(topics: Iterable[Topic]) -> str:
    text = io.StringIO()
    rows = csv.writer(text, delimiter="\t", lineterminator="\n")  # quotes what holds a TAB, as BEIR's own reader expects
    rows.writerow(_HEADER)
    rows.writerows((topic.id, page, grade) for topic in topics for page, grade in best_grades(topic).items())
    return text.getvalue()


def _add_rows(judged: dict[str, _Judged], rows: Iterable[tuple[list[str], Place]], split: str) -> None:
    for row, here in rows:
        if len(row) != len(_HEADER) or WHOLE_NUMBER.fullmatch(row[2]) is None:
            here.problem(f"found {quoted(' '.join(row))}; a line is an id, a TAB, a page, a TAB and a whole number")
            continue
        qid, target, score = row
        query = judged.setdefault(qid, _Judged(split))
        judgment = Judgment(target, int(score), here.where)
        first = query.by_target.setdefault(target, judgment)
        if query.split != split:
            here.problem(f"the query {quoted(qid)} is judged in {quoted(query.split)} too; a query belongs to one split")
        elif first is not judgment:
            here.problem(f"{quoted(target)} is judged twice for {quoted(qid)}, first at {first.where}; judge it once")


def _rows(text: str, path: str, place: Place) -> Iterator[tuple[list[str], Place]]:
    """The rows below the header, each with its file and line."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True)
    try:
        if next(rows, None) != _HEADER:
            place.at(f"{path}, line 1").problem(f"the first line must be the header {' TAB '.join(_HEADER)}")
            return
        for row in rows:
            if row:
                yield row, place.at(f"{path}, line {rows.line_num}")
    except csv.Error as error:
        place.at(f"{path}, line {rows.line_num}").problem(f"{error}; a name that begins with a quotation mark stands in quotes")


def _add_unanswerable(judged: dict[str, _Judged], text: str, place: Place) -> None:
    top = top_object(text, place)
    listed = {split: top.texts(split) for split in top.values} if top is not None else {}
    for split, ids in listed.items():
        for qid in ids:
            if qid in judged:
                place.problem(f"the query {quoted(qid)} is judged too, or listed twice; a query that no page answers has no row")
            judged.setdefault(qid, _Judged(split))


def _topics(text: str, judged: Mapping[str, _Judged], place: Place) -> tuple[Topic, ...]:
    topics: dict[str, Topic] = {}
    unjudged: list[str] = []
    for line in lines_of_objects(text, place):
        qid, query = line.text("_id"), line.text("text")
        if qid in topics:
            line.place.problem(f"the id {quoted(qid)} is there twice, first at {topics[qid].where}; name each query once")
        elif qid in judged:
            split = judged[qid].split if judged[qid].split in SPLITS else None
            where = f"{QUERIES}, {line.place.where}"
            topics[qid] = Topic(qid, query, tuple(judged[qid].by_target.values()), where, split=split)
        else:
            unjudged.append(qid)
    if unjudged:
        place.warn(f"queries that nobody judged are left out: {ids_shown(unjudged)}")
    for qid in (qid for qid in judged if qid not in topics):
        place.problem(f"the query {quoted(qid)} is judged, but has no text here; add a line with its '_id' and 'text'")
    return tuple(topics.values())


def _warn_of_splits(splits: set[str], place: Place) -> None:
    others = sorted(splits - {*SPLITS, _NO_SPLIT})
    if others:
        named = ", ".join(map(quoted, others))
        place.warn(f"the splits {named} are none of ours ({', '.join(SPLITS)}): their queries stand in none")


def _below(place: Place, path: str) -> Place:
    return replace(place, file=f"{place.file}/{path}")
