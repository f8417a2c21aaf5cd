"""The trend of kept reports: every point in order, marked where two of them may not be compared."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from vault_eval.errors import UsageError
from vault_eval.limits import HISTORY_REPORTS_MAX, TERMINAL_TEXT_MAX_CHARACTERS
from vault_eval.metrics.score import MetricValue
from vault_eval.model import IndexDescription, LabelSource
from vault_eval.reports.comparison_plots import TREND_BOTTOM, TREND_TOP, trend
from vault_eval.reports.history import Point, Series, read_history
from vault_eval.reports.history_html import history_html
from vault_eval.reports.history_json import history_json
from vault_eval.reports.history_text import history_text, left_out_lines, sparkline
from vault_eval.reports.save import save_to_history

BEGIN = datetime(2026, 3, 1, 9, 30, tzinfo=timezone.utc)


@pytest.fixture
def keep(tmp_path):
    def go(report, hours):
        started = BEGIN + timedelta(hours=hours)
        timed = replace(report, timing=replace(report.timing, started=f"{started:%Y-%m-%dT%H:%M:%SZ}"))
        return Path(save_to_history(timed, str(tmp_path), started))

    return go


@pytest.fixture
def series():
    def go(*values: float | None):
        points = [
            Point("", f"2026-03-0{1 + place}T09:30:00Z", MetricValue(value, 5 * (value is not None), "ok"), ())
            for place, value in enumerate(values)
        ]
        return Series("keyword", 10, tuple(points))

    return go


def test_points_stand_in_the_order_of_time_with_what_changed_before_them(keep, make_side, tmp_path):
    other_labels = (LabelSource("questions.json", "ef" * 32, "native"),)
    keep(replace(make_side(0), snapshot_sha256="e" * 64), 3)
    keep(make_side(0), 0)
    keep(make_side(1), 1)
    keep(replace(make_side(0), label_sources=other_labels, snapshot_sha256="e" * 64), 4)
    found = read_history(str(tmp_path), "mrr@10")
    (series,) = found.series
    assert [point.started for point in series.points] == [f"2026-03-01T{hour}:30:00Z" for hour in ("09", "10", "12", "13")]
    # k1 is 1.5, 0.5, 1.5, 1.5 in turn.
    assert [point.changed for point in series.points] == [(), ("settings",), ("notes", "settings"), ("labels",)]
    assert [round(point.metric.value, 3) for point in series.points] == [0.578, 0.806, 0.578, 0.578]
    assert found.left_out == {}


def test_another_split_is_other_labels(keep, make_side, tmp_path):
    keep(make_side(0), 0)
    keep(make_side(0, split="dev"), 1)
    (series,) = read_history(str(tmp_path), "mrr@10").series
    assert [point.changed for point in series.points] == [(), ("labels",)]


def test_another_collection_is_other_labels_and_none_is_one_of_its_own(keep, make_side, tmp_path):
    for hours, chosen in enumerate(("sea", "sea", "land", None, None)):
        keep(make_side(0, collection=chosen), hours)
    (series,) = read_history(str(tmp_path), "mrr@10").series
    assert [point.changed for point in series.points] == [(), (), ("labels",), ("labels",), ()]


@pytest.mark.parametrize(
    ("indexed", "said"),
    [
        (("1" * 64, "2" * 64), "the indexes were built from other states of the notes: one of them is stale"),
        (("1" * 64, "1" * 64), "the index differs although settings and pages do not: one of them was stale, or built otherwise"),
    ],
)
def test_step_where_only_the_index_is_another_is_marked_and_said_everywhere(keep, make_side, tmp_path, indexed, said):
    """The notes changed before the second report, and the index was built anew before the third."""
    report = make_side(0)
    edited = replace(report, snapshot_sha256="e" * 64)
    stale, caught_up = (
        replace(
            edited, runs=(replace(report.runs[0], index=IndexDescription("vault-eval.index.v1", digest, 9, 31, notes_sha256=of)),)
        )
        for digest, of in zip(("ab" * 32, "ac" * 32), indexed, strict=True)
    )
    for hours, one in enumerate((report, stale, caught_up, caught_up)):
        keep(one, hours)
    found = read_history(str(tmp_path), "mrr@10")
    (series,) = found.series
    assert [point.changed for point in series.points] == [(), ("notes",), ("index",), ()]
    assert [point.index_change for point in series.points] == [None, None, said, None]
    assert f"2026-03-01 11:30 UTC: {said}" in " ".join(history_text(found).split())
    assert f"index: {said}" in history_html(found)
    assert json.loads(history_json(found))["series"][0]["points"][2]["index_change"] == said


def test_an_index_that_other_settings_built_is_no_change_of_its_own(keep, make_side, tmp_path):
    before, after = make_side(0), make_side(1)  # k1 is another
    keep(before, 0)
    built = replace(after.runs[0], index=replace(after.runs[0].index, sha256="ac" * 32))
    keep(replace(after, runs=(built,)), 1)
    (series,) = read_history(str(tmp_path), "mrr@10").series
    assert [point.changed for point in series.points] == [(), ("settings",)]


def test_each_configuration_has_its_own_points(keep, make_side, make_run, tmp_path):
    report = make_side(0)
    keep(replace(report, runs=(report.runs[0], make_side(1, name="title").runs[0])), 0)
    keep(replace(report, runs=(make_run(report.runs[0].rows, depth=20),)), 1)
    found = read_history(str(tmp_path), "mrr@10")
    assert [(one.name, one.depth, len(one.points)) for one in found.series] == [
        ("keyword", 10, 1),
        ("title", 10, 1),
        ("keyword", 20, 1),
    ]


def test_another_metric_is_shown_when_asked_for(keep, make_side, tmp_path):
    keep(make_side(0), 0)
    assert read_history(str(tmp_path), "recall@5").series[0].points[0].metric.value == pytest.approx(9 / 10)
    with pytest.raises(
        UsageError, match=r"--metric 'recal@5': no report has it \(did you mean recall@5\?\); they have recall@1, recall@5"
    ):
        read_history(str(tmp_path), "recal@5")


def test_damaged_missing_and_edited_reports_are_counted_and_named(keep, make_side, tmp_path):
    keep(make_side(0), 0)
    damaged, missing, edited, not_a_number = (keep(make_side(0), hours) / "report.json" for hours in (1, 2, 3, 4))
    damaged.write_text("{", encoding="utf-8")
    missing.unlink()
    edited.write_bytes(re.sub(rb'("mrr@10": \{"value": )[0-9.]+', rb"\g<1>0.99", edited.read_bytes()))
    not_a_number.write_bytes(not_a_number.read_bytes().replace(b'"score": ', b'"score": NaN, "was": ', 1))
    found = read_history(str(tmp_path), "mrr@10")
    assert [len(one.points) for one in found.series] == [1]
    assert list(found.left_out) == [str(one) for one in (damaged, missing, edited, not_a_number)]
    # k1 is 1.5: .578 as in every report that was not edited.
    assert "metrics: mrr@10: value: found '0.99', allowed is 0.57" in found.left_out[str(edited)]
    assert "NaN is not JSON" in found.left_out[str(not_a_number)]
    assert "left out of the trend: 4 of 5 kept reports" in history_text(found)
    told = json.loads(history_json(found))
    assert (told["read"], [one["file"] for one in told["left_out"]]) == (1, list(found.left_out))
    page = history_html(found)
    assert "Left out: 4 of 5 kept reports" in page
    assert page.count("<li>") == 4


def test_the_first_that_are_left_out_are_named_and_the_others_counted(keep, make_side, tmp_path):
    for hours in range(9):
        file = keep(make_side(0), hours) / "report.json"
        if hours:
            file.write_text("[]", encoding="utf-8")
    lines = left_out_lines(read_history(str(tmp_path), "mrr@10"), width=1_000)
    assert lines[0] == "! left out of the trend: 8 of 9 kept reports"
    assert [line.split("/report.json")[0].rsplit("T")[-1] for line in lines[1:-1]] == [f"1{hour}-30-00Z" for hour in range(5)]
    assert lines[-1] == "  … and 3 reports, not shown"
    assert left_out_lines(replace(read_history(str(tmp_path), "mrr@10"), left_out={})) == []


def test_an_edited_ranking_is_no_point(keep, make_side, tmp_path):
    """The label expects berth.md, found at rank 2: under another name it would be missed, and the mean lower."""
    keep(make_side(0), 0)
    file = keep(make_side(0), 1) / "report.json"
    file.write_bytes(file.read_bytes().replace(b'"page": "berth.md", "score"', b'"page": "other.md", "score"'))
    assert list(read_history(str(tmp_path), "mrr@10").left_out) == [str(file)]


def test_times_are_told_to_the_second_only_where_two_share_a_minute(keep, make_side, tmp_path):
    keep(make_side(0), 0)
    keep(make_side(0), 1)
    (series,) = read_history(str(tmp_path), "mrr@10").series
    assert [time for time, _ in series.timed] == ["2026-03-01 09:30 UTC", "2026-03-01 10:30 UTC"]
    keep(make_side(0), 1 + 20 / 3600)
    found = read_history(str(tmp_path), "mrr@10")
    times = ["2026-03-01 09:30:00 UTC", "2026-03-01 10:30:00 UTC", "2026-03-01 10:30:20 UTC"]
    assert [time for time, _ in found.series[0].timed] == times
    for rendered in (history_text(found), history_html(found)):
        assert all(time in rendered for time in times)


def test_without_a_report_the_next_step_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"there is no report of this vault in .*; measure it first, with bench"):
        read_history(str(tmp_path / "missing"), "mrr@10")


def test_only_the_newest_are_read_and_the_others_counted(keep, make_side, tmp_path):
    place = keep(make_side(0), 0)
    for number in range(HISTORY_REPORTS_MAX + 2):
        (tmp_path / f"2026-04-01T{number // 60:02}-{number % 60:02}-00Z").mkdir()
    with pytest.raises(UsageError, match="no report"):
        read_history(str(tmp_path), "mrr@10")
    place.rename(tmp_path / "2026-05-01T00-00-00Z")
    found = read_history(str(tmp_path), "mrr@10")
    assert found.older == 3
    assert "3 older report" in history_text(found)


def test_evidence_is_not_looked_at(keep, make_side, tmp_path):
    """What no reader of rows would take, behind the places of a row, does not matter to a mean; most of the time goes there."""
    file = keep(make_side(0), 0) / "report.json"
    file.write_bytes(file.read_bytes().replace(b'"diagnosis": []', b'"diagnosis": 7'))
    assert read_history(str(tmp_path), "mrr@10").series[0].points[0].metric.n == 10


def test_a_bar_stands_for_its_value_from_0_to_1(series):
    """Eight bars, an eighth each: 0 the first, 1/8 the second, .99 and 1 the last."""
    assert sparkline(series(0.0, 0.124, 0.125, 0.5, 0.99, 1.0, None)) == "▁▁▂▅██·"


def test_a_change_is_marked_before_its_bar(series):
    points = series(0.5, 0.5).points
    changed = Series("keyword", 10, (points[0], replace(points[1], changed=("labels",))))
    assert sparkline(changed) == "▅│▅"
    assert len(trend(changed).breaks) == 1
    assert trend(changed).lines == ()  # no line from one set of questions to another
    assert len(trend(series(0.5, 0.5)).lines) == 1


def test_a_chart_has_1_at_the_top_and_a_gap_where_there_is_no_value(series):
    drawn = trend(series(0.0, 1.0, None, 0.5, 0.5))
    assert [dot.y for dot in drawn.dots] == [TREND_BOTTOM, TREND_TOP, *[(TREND_BOTTOM + TREND_TOP) / 2] * 2]
    assert len(drawn.lines) == 2
    assert sorted(dot.x for dot in drawn.dots) == [dot.x for dot in drawn.dots]


def test_json_has_every_point(keep, make_side, tmp_path):
    kept = [str(keep(make_side(place), place)) for place in (0, 1)]
    found = json.loads(history_json(read_history(str(tmp_path), "mrr@10")))
    assert (found["schema"], found["metric"], found["vault"]) == ("vault-eval.history.v1", "mrr@10", {"name": "Harbour notes"})
    points = found["series"][0]["points"]
    assert [point["report"] for point in points] == kept
    assert [point["n"] for point in points] == [10, 9]
    assert points[1]["changed"] == ["settings"]
    assert points[0]["interval"]["low"] < points[0]["value"] < points[0]["interval"]["high"]


def test_one_report_alone_is_no_chart(keep, make_side, tmp_path):
    keep(make_side(0), 0)
    assert "<svg" not in history_html(read_history(str(tmp_path), "mrr@10"))
    keep(make_side(0), 1)
    assert history_html(read_history(str(tmp_path), "mrr@10")).count("<circle") == 2


def test_text_has_no_bars_where_the_terminal_has_none(keep, make_side, tmp_path):
    keep(make_side(0), 0)
    found = read_history(str(tmp_path), "mrr@10")
    assert "▅" in history_text(found)
    assert "▅" not in history_text(found, with_bars=False)
    assert "0.578" in history_text(found, with_bars=False)


def test_names_of_others_cannot_act_and_text_is_bounded(keep, make_side, make_row, make_run, make_report, tmp_path):
    evil = "</script><b onclick=x>\x1b[2J\n"
    names = [f"{evil}{number}" for number in range(40)]
    runs = [make_run([make_row("a", "q", ["A.md"], ["A.md"])], name=name) for name in names]
    for hours in range(12):
        keep(make_report(*runs, vault_name=evil), hours)
    found = read_history(str(tmp_path), "mrr@10")
    text, page = history_text(found), history_html(found)
    assert len(text) < TERMINAL_TEXT_MAX_CHARACTERS
    assert not re.search("[\x00-\x09\x0b-\x1f]", text + page)
    assert not re.search("<script|<b ", page)
    assert "… and 28 configurations, not shown" in text
