"""Every figure of a report follows from its rows: recomputed here by a small program that shares no line with ours.

The vaults are the shipped fixture and generated ones, with everything in the labels that may leave a row out of a mean.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, factorial, inf, log2, sqrt
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
GENERATOR = ROOT / "benchmarks" / "generate_vault.py"
Row = dict[str, Any]
Report = dict[str, Any]


def run(script: Path, *arguments: object) -> bytes:
    done = subprocess.run([sys.executable, str(script), *map(str, arguments)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


# --- the small program ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """A mean with what stands beside it in a report."""

    value: float | None
    n: int
    status: str
    interval: tuple[float, float] | None


def returned(row: Row, cutoff: float = inf) -> list[str]:
    return [hit["page"] for hit in row["ranking"] if hit["rank"] <= cutoff]


def share(expected: Sequence[str], found: Sequence[str]) -> float:
    return sum(page in found for page in expected) / len(expected)


def reciprocal_rank(row: Row, cutoff: int) -> float:
    ranks = [hit["rank"] for hit in row["ranking"] if hit["page"] in row["expected"] and hit["rank"] <= cutoff]
    return 1 / min(ranks) if ranks else 0.0


def ndcg(row: Row, cutoff: int) -> float:
    gain = sum(1 / log2(1 + hit["rank"]) for hit in row["ranking"] if hit["rank"] <= cutoff and hit["page"] in row["expected"])
    return gain / sum(1 / log2(2 + place) for place in range(min(cutoff, len(row["expected"]))))


def average_precision(row: Row, cutoff: int) -> float:
    good = [page in row["expected"] for page in returned(row, cutoff)]
    return sum(sum(good[: place + 1]) / (place + 1) for place in range(len(good)) if good[place]) / len(row["expected"])


def definitions(depth: int) -> dict[str, Any]:
    """Metric name to a function of a scored row; the one metric of negatives stands apart."""
    found: dict[str, Any] = {}
    for k in (1, 5, 10):
        found[f"recall@{k}"] = lambda row, k=k: share(row["expected"], returned(row, k))
        found[f"hit@{k}"] = lambda row, k=k: float(share(row["expected"], returned(row, k)) > 0)
    for k in sorted({10, depth}):
        found[f"mrr@{k}"] = lambda row, k=k: reciprocal_rank(row, k)
        found[f"ndcg@{k}"] = lambda row, k=k: ndcg(row, k)
        found[f"ap@{k}"] = lambda row, k=k: average_precision(row, k)
    for kind in ("usable", "raw"):
        found[f"{kind}_candidate_recall"] = lambda row, kind=kind: share(row["expected"], row["diagnostics"][f"{kind}_gold"])
    return found


def wilson(mean: float, n: int) -> tuple[float, float]:
    # The two roots of (mean - p)^2 = z^2 p (1 - p) / n.
    z2 = NormalDist().inv_cdf(0.975) ** 2
    a, b, c = 1 + z2 / n, 2 * mean + z2 / n, mean * mean
    root = sqrt(max(0.0, b * b - 4 * a * c))
    return (b - root) / (2 * a), (b + root) / (2 * a)


def counted(hits: int, n: int) -> tuple[float, float]:
    # Wilson, but for the bound towards which one to three queries point: that is the Poisson mean that has so many events or
    # more in one of twenty cases, found by halving.
    def rare(events: int) -> float:
        low, high = 0.0, 3.0
        for _ in range(60):
            mean = (low + high) / 2
            fewer = sum(exp(-mean) * mean**few / factorial(few) for few in range(events))
            low, high = (low, mean) if fewer < 0.95 else (mean, high)
        return low / n

    low, high = wilson(hits / n, n)
    few = [1 <= events <= 3 and 2 * events < n for events in (hits, n - hits)]
    return rare(hits) if few[0] else low, 1 - rare(n - hits) if few[1] else high


def abc(values: Sequence[float]) -> tuple[float, float]:
    mean, n = fmean(values), len(values)
    second, third = (fmean((value - mean) ** power for value in values) for power in (2, 3))
    # sum t^3 / (6 (sum t^2)^1.5) with sums n times the central moments, and sd = sqrt(second / n)
    a, sd, z = third / (6 * sqrt(n) * second**1.5), sqrt(second / n), NormalDist().inv_cdf(0.975)
    low, high = (mean + sd * w / (1 - a * w) ** 2 for w in (a - z, a + z))
    return max(0.0, low), min(1.0, high)


def figure(values: Sequence[float], binary: bool, errors: int) -> Figure:
    if not values:
        return Figure(None, 0, "no data", None)
    mean = float(sum(map(Fraction, values)) / len(values))
    n, few = len(values), min(sum(value < 1 for value in values), sum(value > 0 for value in values)) < 8
    wide = few or (n < 100 and not 0.1 <= mean <= 0.9)
    status = "unreliable" if errors else "ok"
    if binary or set(values) <= {0.0, 1.0}:
        return Figure(mean, n, status, counted(round(sum(values)), n))
    return Figure(mean, n, status, wilson(mean, n) if wide else abc(values))


def metrics(rows: Sequence[Row], depth: int) -> dict[str, Figure]:
    """Every figure that is a mean over queries, of all rows or of a group."""
    errors = sum(row["status"] == "error" for row in rows)
    scored = [row for row in rows if row["status"] == "scored"]
    found = {
        name: figure([one(row) for row in scored], name.startswith("hit@"), errors) for name, one in definitions(depth).items()
    }
    judged = [[page in row["expected"] for page in returned(row, 10)] for row in scored if row["ranking"]]
    silent = [float(not row["ranking"]) for row in rows if row["status"] == "negative"]
    found["judged@10"] = figure([sum(pages) / len(pages) for pages in judged], False, errors)
    found |= {f"{grain}_hit": figure(place_hits(scored, grain), True, errors) for grain in ("section", "page")}
    places = [(row, {place["page"] for place in row["places"]}) for row in scored if row["places"]]
    found["doc_hit"] = figure([float(not pages.isdisjoint(returned(row, 10))) for row, pages in places], True, errors)
    return {**found, "no_result_accuracy": figure(silent, True, errors)}


def place_hits(rows: Sequence[Row], grain: str) -> list[float]:
    hits = [[place["hit"] for place in row["places"] if place["grain"] == grain] for row in rows]
    return [float(any(found)) for found in hits if found]


def metrics_across(rows: Sequence[Row]) -> dict[str, Figure]:
    """Every figure that exists for all queries together only: what tells a query that has an answer from one that has none."""
    errors = sum(row["status"] == "error" for row in rows)
    scored, negative = ([row for row in rows if row["status"] == status] for status in ("scored", "negative"))
    found = {
        "no_result_auroc": separation([*map(top, scored)], [*map(top, negative)], errors),
        "coverage_auroc": separation([*map(covered, scored)], [*map(covered, negative)], errors),
    }
    held = [row for row in scored if row.get("split") == "holdout"]
    refused = [row for row in negative if row.get("split") == "holdout"]
    least = threshold(rows)
    if least is None:
        return {**found, "false_answer_rate": figure([], True, 0), "answerable_recall_lost": figure([], False, 0)}
    lost = [0.0 if top(row) >= least else share(row["expected"], returned(row, 10)) for row in held]
    found["answerable_recall_lost"] = figure(lost, False, errors)
    return {**found, "false_answer_rate": figure([float(top(row) >= least) for row in refused], True, errors)}


def top(row: Row) -> float:
    return row["ranking"][0]["score"] if row["ranking"] else -inf


def covered(row: Row) -> float:
    return row["diagnostics"]["query_coverage"]


def separation(scored: Sequence[float], negative: Sequence[float], errors: int) -> Figure:
    pairs = [(one > other) + (one == other) / 2 for one in scored for other in negative]
    if not pairs:
        return Figure(None, 0, "no data", None)
    one = figure([sum(pairs) / len(pairs)] * min(len(scored), len(negative)), False, errors)
    return Figure(one.value, len(scored) + len(negative), one.status, one.interval)


def threshold(rows: Sequence[Row]) -> float | None:
    """The lowest top score of a dev query that tells most of the dev queries right; None without both kinds in both splits."""
    kinds = {
        (split, status): [top(row) for row in rows if row.get("split") == split and row["status"] == status]
        for split in ("dev", "holdout")
        for status in ("scored", "negative")
    }
    if not all(kinds.values()):
        return None
    good, bad = kinds["dev", "scored"], kinds["dev", "negative"]
    gain = {
        t: Fraction(sum(one >= t for one in good), len(good)) - Fraction(sum(one >= t for one in bad), len(bad))
        for t in {*good, *bad} - {-inf}
    }
    return min((t for t in gain if gain[t] == max(gain.values())), default=None)


def unjudged_above(row: Row) -> list[str]:
    """Pages among the first three before the first expected one."""
    first = min((rank for rank in row["ranks"].values() if rank is not None), default=inf)
    return [hit["page"] for hit in row["ranking"][:3] if hit["rank"] < first]


def counts(rows: Sequence[Row], queries: int) -> dict[str, int]:
    statuses = ("scored", "negative", "missing-gold", "skipped", "error")
    found = {status.replace("-", "_"): sum(row["status"] == status for row in rows) for status in statuses}
    missing = {page for row in rows for page in row["missing"]}
    return {**found, "queries": queries, "missing_pages": len(missing), "other_collection": queries - len(rows)}


def coverage(rows: Sequence[Row]) -> dict[str, int]:
    """Each step leaves out the pages that a cause says it of; a page that no search could find is missed by every query."""
    asked = [row for row in rows if row["status"] != "skipped"]
    gold = {page for row in asked for page in row["expected"]}
    missing = {page for row in asked for page in row["missing"]}

    def caused(cause: str) -> set[str]:
        return {one["page"] for row in asked for one in row["diagnosis"] if one["cause"] == cause}

    exist = gold - missing
    scope = exist - caused("out_of_scope")
    indexed = scope - caused("not_indexed")
    steps = {"gold_pages": gold, "exist": exist, "in_scope": scope, "indexed": indexed, "fresh": indexed - caused("stale")}
    return {name: len(pages) for name, pages in steps.items()}


def worst(rows: Sequence[Row], depth: int) -> list[str]:
    missed = [row for row in rows if row["status"] == "scored" and set(row["expected"]) - set(returned(row, 10))]
    order = {row["id"]: (share(row["expected"], returned(row, 10)), reciprocal_rank(row, depth)) for row in missed}
    return sorted(order, key=lambda one: order[one])[:10]


def latency(times: Sequence[float]) -> dict[str, float | None]:
    ordered = sorted(times)
    if not ordered:
        return {"n": 0, "p50": None, "p95": None, "mean": None, "max": None}
    n = len(ordered)
    p50, p95 = (ordered[ceil(n * percent / 100) - 1] for percent in (50, 95))
    return {"n": n, "p50": p50, "p95": p95, "mean": pytest.approx(fmean(ordered)), "max": ordered[-1]}


# --- what a report must keep ---------------------------------------------------------------------------------------


def assert_figures(said: Mapping[str, Any], expected: Mapping[str, Figure], where: str) -> None:
    assert set(said) == set(expected), f"{where}: a figure that this program does not know, or one too few"
    for name, one in expected.items():
        found = said[name]
        assert (found["n"], found["status"]) == (one.n, one.status), (where, name)
        assert found["value"] == (None if one.value is None else pytest.approx(one.value, abs=1e-12)), (where, name)
        bounds = found["interval"] and (found["interval"]["low"], found["interval"]["high"])
        assert bounds == (None if one.interval is None else pytest.approx(one.interval, abs=1e-9)), (where, name)


def assert_row(row: Row, depth: int) -> None:
    answered, scored = row["status"] in ("scored", "negative"), row["status"] == "scored"
    ranks = {hit["page"]: hit["rank"] for hit in row["ranking"]}
    assert list(ranks.values()) == list(range(1, len(row["ranking"]) + 1)), "distinct pages, ranked from 1"
    assert len(ranks) <= depth
    scores = [(-hit["score"], hit["page"]) for hit in row["ranking"]]
    assert scores == sorted(scores), "score down, then path up"
    assert row["ranks"] == ({page: ranks.get(page) for page in row["expected"]} if answered else {})
    assert row["no_result"] == (not ranks if answered else None)
    assert row["rr"] == (reciprocal_rank(row, depth) if scored else None)
    for k in (1, 5, 10):
        missed = [page for page in row["expected"] if ranks.get(page, inf) > k]
        assert row["misses"][str(k)] == (missed if scored else None)
        found = 1 - len(missed) / len(row["expected"]) if scored else None
        assert row["recall"][str(k)] == (pytest.approx(found, abs=1e-12) if scored else None)
    causes = [one["page"] for one in row["diagnosis"] if one["cause"] != "section_only"]
    assert causes == (row["misses"]["10"] if scored else row["missing"]), "one cause for each miss, none for anything else"
    assert row["not_indexed"] == [one["page"] for one in row["diagnosis"] if one["cause"] in ("not_indexed", "out_of_scope")]
    assert (row["skip_reason"] is not None) == (row["status"] == "skipped")
    assert (row["error"] is not None) == (row["status"] == "error")


def assert_run(one: Mapping[str, Any], queries: int) -> None:
    rows, depth = one["queries"], one["depth"]
    for row in rows:
        assert_row(row, depth)
    assert one["counts"] == counts(rows, queries)
    assert_figures(one["metrics"], {**metrics(rows, depth), **metrics_across(rows)}, "all")
    for kind in ("category", "tag"):
        names = sorted({name for row in rows for name in groups(row, kind)})
        assert list(one["groups"][kind]) == names
        for name in names:
            assert_figures(one["groups"][kind][name], metrics([row for row in rows if name in groups(row, kind)], depth), name)
    scored = [row for row in rows if row["status"] == "scored"]
    assert one["more_gold_than_cutoff"] == {str(k): sum(len(row["expected"]) > k for row in scored) for k in (1, 5, 10)}
    assert one["worst_misses"] == worst(rows, depth)
    assert_trust(one["trust"], rows, depth)
    assert one["index"]["skipped_stale"] == sum(row["diagnostics"]["stale_chunks"] for row in rows)


def assert_trust(trust: Mapping[str, Any], rows: Sequence[Row], depth: int) -> None:
    scored = [row for row in rows if row["status"] == "scored"]
    strata = {row["diagnostics"]["stratum"] for row in scored} - {None}
    assert set(trust["strata"]) == strata
    for stratum in strata:
        expected = metrics([row for row in scored if row["diagnostics"]["stratum"] == stratum], depth)
        assert_figures(trust["strata"][stratum], {name: expected[name] for name in ("recall@5", "mrr@10")}, stratum)
    unjudged = [{"id": row["id"], "pages": unjudged_above(row)} for row in scored if unjudged_above(row)]
    assert (trust["unjudged_queries"], trust["unjudged"]) == (len(unjudged), unjudged[:20])
    assert trust["threshold"] == threshold(rows)


def groups(row: Row, kind: str) -> list[str]:
    return row["tags"] if kind == "tag" else [row["category"]] if row["category"] else []


def assert_recomputed(report: Report) -> None:
    assert report["runs"]
    for one, timing in zip(report["runs"], report["timing"]["runs"], strict=True):
        assert_run(one, report["labels"]["queries"])
        assert report["coverage"] == coverage(one["queries"])
        warm = {qid: times["warm_ms"] for qid, times in timing["queries"].items()}
        assert list(warm) == [row["id"] for row in one["queries"] if row["status"] in ("scored", "negative")]
        assert timing["warm"] == latency(list(warm.values()))
        cold = [times["cold_ms"] for times in timing["queries"].values() if times["cold_ms"] is not None]
        if timing["cold"] is not None:
            assert {name: value for name, value in timing["cold"].items() if name != "interpreter"} == latency(cold)
            assert timing["cold"]["interpreter"]["n"] == len(cold)


# --- vaults --------------------------------------------------------------------------------------------------------


def spoiled_labels(labels: list[Row], seed: int) -> list[Row]:
    """The generated labels with tags, several gold pages, skips, missing gold and another collection among them."""
    random = Random(seed)
    pages = sorted({page for one in labels for page in one["expected_pages"]})
    for number, one in enumerate(labels):
        one["tags"] = random.sample(["red", "green", "blue"], random.randint(0, 2))
        if number % 7:
            one["split"] = "dev" if number % 7 < 4 else "holdout"
        if number % 11 == 3 and one["expected_pages"]:
            one["expected_pages"] = sorted({*one["expected_pages"], *random.sample(pages, random.randint(1, 14))})
        if number % 13 == 5:
            one["skip_reason"] = "under review"
        if number % 17 == 6:
            one["expected_pages"] = [f"Gone/{number % 3}.md"]
            one["category"] = "gone"
        if number % 19 == 7:
            one["collection"] = "elsewhere"
        if number % 23 == 8:
            del one["category"]
    return labels


@dataclass(frozen=True)
class Made:
    """A generated vault with its index and labels; some notes are excluded, unreadable, new or changed since."""

    folder: Path

    @property
    def places(self) -> list[object]:
        return ["--vault", self.folder / "set" / "vault", "--index", self.folder / "index", "--data", self.folder / "data"]

    @property
    def labels(self) -> Path:
        return self.folder / "labels.json"

    def report(self, *arguments: object) -> Report:
        options = ["--collection", "here", "--cold-samples", "0", "--format", "json", *arguments]
        options += [] if "--queries" in arguments else ["--queries", self.labels]
        report: Report = json.loads(run(SCRIPTS / "evaluate-retrieval.py", *self.places, *options))
        return report


def make(folder: Path, seed: int) -> Made:
    run(GENERATOR, "--notes", 240, "--queries", 240, "--seed", seed, folder / "set")
    made, vault = Made(folder), folder / "set" / "vault"
    document = json.loads((folder / "set" / "queries.json").read_text(encoding="utf-8"))
    labels = {"schema": "vault-eval.labels.v1", "queries": spoiled_labels(document["queries"], seed)}
    made.labels.write_text(json.dumps(labels), encoding="utf-8")
    notes = sorted(vault.rglob("*.md"))
    (vault / ".obsidian" / "app.json").write_text('{"userIgnoreFilters": ["wiki/area-000/topic-01/"]}', encoding="utf-8")
    notes[7].write_bytes(b"caf\xe9 is not UTF-8\n")
    new = notes[9].read_bytes()
    notes[9].unlink()
    run(SCRIPTS / "vault-eval.py", "index", *made.places)
    notes[9].write_bytes(new)
    for note in notes[20:30]:
        note.write_bytes(note.read_bytes() + b"\nOne more line.\n")
    return made


@pytest.fixture(scope="module", params=[1, 2])
def made(request, tmp_path_factory) -> Made:
    return make(tmp_path_factory.mktemp("made"), request.param)


def test_fixture_figures_follow_from_its_rows(tmp_path) -> None:
    report = json.loads(run(SCRIPTS / "evaluate-retrieval.py", "--fixture", "--format", "json", "--data", tmp_path))
    assert_recomputed(report)
    assert {row["status"] for row in report["runs"][0]["queries"]} == {"scored", "negative"}


@pytest.mark.parametrize("depth", [10, 25, 300])
def test_figures_of_a_generated_vault_follow_from_its_rows(made, depth) -> None:
    report = made.report("--top", depth)
    assert_recomputed(report)
    statuses = {row["status"] for row in report["runs"][0]["queries"]}
    causes = {one["cause"] for row in report["runs"][0]["queries"] for one in row["diagnosis"]}
    assert statuses == {"scored", "negative", "missing-gold", "skipped"}
    assert {"label_invalid", "out_of_scope", "not_indexed", "stale"} < causes, "the vault shows what it was made to show"
    assert report["runs"][0]["counts"]["other_collection"] > 0
    assert report["runs"][0]["metrics"]["false_answer_rate"]["n"] > 0


def test_figures_of_several_configurations_follow_from_their_own_rows(made) -> None:
    report = made.report("-r", "keyword,keyword:k1=0.6,b=0")
    assert len(report["runs"]) == 2
    assert_recomputed(report)


def test_partial_misses_are_ordered_by_recall_before_file_order(made, tmp_path) -> None:
    document = json.loads((made.folder / "set" / "queries.json").read_text(encoding="utf-8"))
    known = [one for one in document["queries"][31:99] if one["category"] == "known-item"]
    pages = sorted(one["expected_pages"][0] for one in known)
    for number, one in enumerate(known):  # found at rank 1 or so, with one to nine pages more that are not
        others = [page for page in pages if page not in one["expected_pages"]]
        one["expected_pages"] += others[: 1 + number * 5 % 9]
    labels = tmp_path / "several.json"
    labels.write_text(json.dumps({**document, "queries": known}), encoding="utf-8")
    report = made.report("--queries", labels)
    assert_recomputed(report)
    one = report["runs"][0]
    recalls = {row["id"]: row["recall"]["10"] for row in one["queries"]}
    worst_first = [recalls[qid] for qid in one["worst_misses"]]
    assert worst_first == sorted(worst_first) != list(recalls.values())[:10]
    assert worst_first[-1] > 0


def test_figures_beside_errors_follow_from_the_rows(made, monkeypatch) -> None:
    from vault_eval.evaluation import run_quality
    from vault_eval.model import Ranking
    from vault_eval.retrievers.keyword import KeywordRetriever

    search = KeywordRetriever.search

    def failing(self: KeywordRetriever, query: str, depth: int) -> Ranking:
        return Ranking((), None, "it broke") if query.startswith("how do i") else search(self, query, depth)

    monkeypatch.setattr(KeywordRetriever, "search", failing)
    settings = {"index": str(made.folder / "index"), "data": str(made.folder / "data"), "collection": "here", "cold_samples": 0}
    report = run_quality(str(made.folder / "set" / "vault"), str(made.labels), **settings)
    one = report["runs"][0]
    assert one["counts"]["error"] == sum(row["status"] == "error" for row in one["queries"]) > 10
    assert one["metrics"]["recall@5"]["status"] == "unreliable"
    assert one["groups"]["category"]["natural"]["recall@5"] == {"value": None, "n": 0, "status": "no data", "interval": None}
    assert_run(one, report["labels"]["queries"])  # coverage does not follow: nobody looked for the gold of an error


def test_snapshot_digest_is_that_of_the_pages_beside_the_report(made, tmp_path) -> None:
    made.report("--out", tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    pages = json.loads((tmp_path / "out" / "pages.json").read_text(encoding="utf-8"))["pages"]
    assert (
        report["vault"]["snapshot_sha256"]
        == hashlib.sha256("".join(f"{digest}  {page}\n" for page, digest in sorted(pages.items())).encode()).hexdigest()
    )
    vault = made.folder / "set" / "vault"
    assert pages == {page: hashlib.sha256((vault / page).read_bytes()).hexdigest() for page in pages}
    assert_recomputed(report)


# --- the generator itself ------------------------------------------------------------------------------------------


def test_generated_vault_is_the_same_again_and_the_beginning_of_a_larger_one(tmp_path) -> None:
    for name, notes in (("small", 30), ("again", 30), ("large", 60)):
        run(GENERATOR, "--notes", notes, "--queries", 20, "--seed", 5, tmp_path / name)
    small, again, large = (contents(tmp_path / name / "vault") for name in ("small", "again", "large"))
    assert small == again
    assert small.items() <= large.items()
    assert (tmp_path / "small" / "queries.json").read_bytes() == (tmp_path / "again" / "queries.json").read_bytes()


def test_generated_vault_of_another_seed_has_no_note_in_common(tmp_path) -> None:
    for seed in (1, 2):
        run(GENERATOR, "--notes", 30, "--queries", 20, "--seed", seed, tmp_path / str(seed))
    notes = [{data for path, data in contents(tmp_path / seed / "vault").items() if path.endswith(".md")} for seed in "12"]
    assert not notes[0] & notes[1]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
