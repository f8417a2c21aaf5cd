"""The CSV that Quepid takes ratings from: `query,docid,rating`."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence

from vault_eval.interop.carried import Part, best_grades, kept, left_out, loss
from vault_eval.interop.records import Topic, Written

NAME = "quepid"
CARRIES = frozenset({Part.QUERY, Part.GRADES, Part.REFUSED})


def write_labels(topics: Sequence[Topic]) -> Written:
    """The ratings by page; a query is named by its text there, so equal texts under several ids become one."""
    carried = kept(topics, CARRIES)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["query", "docid", "rating"])
    rows.writerows((topic.query, page, max(grade, 0)) for topic in carried for page, grade in best_grades(topic).items())
    times = Counter(topic.query for topic in carried)
    twins = [topic.id for topic in carried if times[topic.query] > 1]
    lost = loss("ids: queries of the same text become one", twins, topics)
    return Written({"ratings.csv": text.getvalue()}, (*left_out(topics, CARRIES), *lost))
