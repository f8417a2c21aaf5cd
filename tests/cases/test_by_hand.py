"""The cases that need more than one evaluation: other options, other folders, other moments. Each test names its case."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from case_expectation import differences, row_differences
from case_input import label_file, lay_out, load_cases
from case_intrusion import changes, disk_full_at, killed_at, offline
from case_program import SCRIPTS, Bench, Outcome, Program

from vault_eval.metrics.latency import summary

CASES = load_cases()
ON_TIDES = {"t": "Sea/Tides.md"}


def assert_outcome(outcome: Outcome, **expected: object) -> None:
    assert list(differences(expected, outcome)) == []


def state_of(folder: Path) -> dict[str, tuple[int, int, int, str]]:
    """Everything below a folder: size, mode, time, and the digest of what is in it."""
    found = {}
    for path in sorted(folder.rglob("*")):
        told = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (told.st_size, told.st_mode, told.st_mtime_ns, digest)
    return found


def comparable(report: dict[str, object]) -> dict[str, object]:
    """A report without what may differ between two identical runs."""
    return {key: value for key, value in report.items() if key != "timing"}


@pytest.fixture
def plugin(program, tmp_path) -> Iterator[Program]:
    """The scripts installed elsewhere, in a folder with blanks that may not be written."""
    place = tmp_path / "My plug-ins" / "vault eval"
    shutil.copytree(SCRIPTS, place / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(SCRIPTS.parent / "requirements", place / "requirements")
    set_writable(place, writable=False)
    yield Program(program.data, place / "scripts")
    set_writable(place, writable=True)


def set_writable(folder: Path, *, writable: bool) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod((0o755 if path.is_dir() else 0o644) if writable else (0o555 if path.is_dir() else 0o444))


# Command line and plugin


class TestVaultRoot:
    """CL-01: the vault is what --vault names, whatever the working directory and the place of the scripts."""

    def test_without_vault_the_plugin_folder_is_not_taken_for_one(self, lay, plugin):
        bench = lay("CL-01")
        before = state_of(plugin.scripts.parent)
        for script, command in (("evaluate-retrieval.py", ()), ("vault-eval.py", ("index",))):
            outcome = plugin.call(script, *command, cwd=plugin.scripts.parent)
            assert_outcome(outcome, exit=2, says=["vault"])
        assert_outcome(plugin.call("evaluate-retrieval.py", *bench.places()[2:], cwd=plugin.scripts), exit=2, says=["--vault"])
        assert state_of(plugin.scripts.parent) == before

    @pytest.mark.parametrize("place", ["nowhere", "vault/Sea/Tides.md", "", "labels/queries.json/x"])
    def test_a_vault_that_is_no_folder_is_refused(self, lay, place):
        bench = lay("CL-01")
        bench.index()
        places = ("--vault", bench.folder / place if place else "", *bench.places()[2:])
        assert_outcome(bench.program.call("evaluate-retrieval.py", *places, cwd=bench.folder / "vault"), exit=2, says=["--vault"])

    def test_every_spelling_of_the_vault_gives_the_same_report(self, lay):
        bench = lay("CL-01")
        bench.index()
        whole = bench.evaluate()
        (bench.folder / "link").symlink_to("vault")
        for spelling in (f"{bench.folder}/vault/", f"{bench.folder}/./vault/../vault", "vault", "./vault/", "link"):
            outcome = bench.program.call(
                "evaluate-retrieval.py", "--vault", spelling, *bench.places()[2:], "--format", "json", cwd=bench.folder
            )
            assert comparable(outcome.report) == comparable(whole.report), spelling

    def test_a_read_only_plugin_works_and_stays_as_it_is(self, lay, plugin):
        bench = lay("CL-01")
        bench = Bench(plugin, bench.folder)
        before = state_of(plugin.scripts.parent)
        assert bench.index().code == 0
        for folder in (bench.folder, plugin.scripts, bench.folder / "vault"):
            assert_outcome(bench.evaluate(cwd=folder), exit=0, rows=ON_TIDES)
        assert state_of(plugin.scripts.parent) == before


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (("--top", "0"), 2),
        (("--top", "-1"), 2),
        (("--top", "1.5"), 2),
        (("--top", "abc"), 2),
        (("--top", ""), 2),
        (("--top", "1000000000"), 2),
        (("--top", "9" * 5000), 2),
        (("--top", "٢٠"), 2),  # Arabic digits
        (("--top", "1001"), 2),
        (("--top", "1000"), 0),
        (("--top", "20", "--top", "10"), 0),
        (("--cold-samples", "-1"), 2),
        (("--cold-samples", "most"), 2),
        (("--min-n", "x"), 2),
        (("--min-n", "0"), 2),
        (("--retriever", ""), 2),
        (("--retriever", "keyword:k1=-1"), 2),
        (("--retriever", "keyword:k1=nan"), 2),
        (("--retriever", "keyword:b=1.5"), 2),
        (("--retriever", "keyword:k9=1"), 2),
        (("--retriever", "keywrod"), 2),
        (("--format", "yaml"), 2),
        (("--to", "10"), 2),  # no abbreviations
        (("--split", "train"), 2),
        (("stray",), 2),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_options_at_the_edge_are_taken_or_refused_in_words(built, arguments, exit_code):
    """CL-02"""
    bench = built("CL-02")
    assert_outcome(bench.evaluate(*arguments), exit=exit_code, seconds_at_most=5, megabytes_at_most=300)


@pytest.mark.parametrize("labels", ["labels/dir.json", "labels/none.json", "labels/queries.json/x", "labels", "."])
def test_labels_that_are_no_file_are_refused(built, labels):
    """CL-02"""
    bench = built("CL-02")
    assert_outcome(bench.evaluate(labels=labels), exit=2, says=["label"])


def test_an_evaluation_opens_no_socket_and_starts_no_process(lay, tmp_path):
    """CL-04"""
    bench = lay("CL-04")
    home = {"HOME": "/nonexistent", "HTTPS_PROXY": "http://127.0.0.1:9"}
    bench.index()
    assert_outcome(bench.evaluate(environment={**offline(tmp_path / "site"), **home}), exit=0, rows=ON_TIDES)


def test_a_vault_and_a_plugin_with_odd_names_work_together(lay, plugin):
    """NM-13"""
    laid = lay("NM-13")
    bench = Bench(plugin, laid.folder, laid.vault, laid.labels)
    assert bench.index().code == 0
    assert_outcome(bench.evaluate(), exit=0, rows=ON_TIDES)


# Files and folders


@pytest.mark.parametrize(
    "place",
    ["vault/report.json", "labels/../vault/Sea/report.md", "outlink/report.html", "vault/Sea/Tides.md", "vault", "vault/new/all"],
)
def test_a_report_inside_the_vault_is_refused(built, place):
    """FS-10"""
    bench = built("FS-10")
    before = state_of(bench.folder / "vault")
    # Joined as text: pathlib would keep "..", but a person's shell completes such paths too.
    outcome = bench.evaluate("--out", f"{bench.folder}/{place}")
    assert_outcome(outcome, exit=2, says=["vault", ["outside", "inside"]])
    assert state_of(bench.folder / "vault") == before


def test_a_report_beside_the_vault_is_written_and_the_vault_stays(lay):
    """FS-10"""
    bench = lay("FS-10")
    bench.index()
    before = state_of(bench.folder / "vault")
    outcome = bench.evaluate("--out", bench.folder / "out/report.json")
    assert outcome.code == 0
    assert comparable(json.loads((bench.folder / "out/report.json").read_bytes())) == comparable(outcome.report)
    assert state_of(bench.folder / "vault") == before


@pytest.mark.parametrize("option", ["--data", "--index"])
def test_data_and_index_inside_the_vault_are_refused(lay, option):
    """FS-10"""
    bench = lay("FS-10")
    before = state_of(bench.folder / "vault")
    arguments = ("--vault", bench.folder / "vault", option, f"{bench.folder}/outlink/x")
    program = bench.program
    if option == "--data":
        # The program's own --data stands after, and the last one wins: name it there.
        program = replace(program, data=bench.folder / "outlink" / "x")
        arguments = arguments[:2]
    assert_outcome(program.call("vault-eval.py", "index", *arguments, cwd=bench.folder), exit=2, says=["vault", option])
    assert state_of(bench.folder / "vault") == before


# Label files


@pytest.mark.parametrize(("queries", "exit_code"), [(1000, 0), (1001, 2)])
def test_a_thousand_queries_are_the_limit(built, queries, exit_code):
    """JL-15"""
    bench = built("JL-15")
    many = [[f"q{number}", f"spring tides {number}", ["Sea/Tides.md"]] for number in range(queries)]
    (bench.folder / "labels/many.json").write_text(label_file(many), encoding="utf-8")
    says = ["1,000"] if exit_code else []
    assert_outcome(bench.evaluate(labels="labels/many.json"), exit=exit_code, says=says, seconds_at_most=20)


@pytest.mark.parametrize(("pages", "exit_code"), [(64, 0), (65, 2)])
def test_sixty_four_gold_pages_are_the_limit(built, pages, exit_code):
    """JL-15"""
    bench = built("JL-15")
    gold = [f"Sea/{number}.md" for number in range(pages)]
    (bench.folder / "labels/wide.json").write_text(label_file([["w", "spring tides", gold]]), encoding="utf-8")
    expected = {"says": ["64"]} if exit_code else {"rows": {"w": "missing-gold"}}
    assert_outcome(bench.evaluate(labels="labels/wide.json"), exit=exit_code, **expected)


# Counting


def test_equal_scores_come_in_path_order_whatever_the_hash_seed_and_the_order_of_files(program, tmp_path):
    """EV-08"""
    case = CASES["EV-08"]
    found = []
    for seed, backwards in (("0", False), ("1", True), ("2", False), ("0", True)):
        folder = tmp_path / "work"
        shutil.rmtree(folder, ignore_errors=True)
        files = dict(reversed(case["files"].items())) if backwards else case["files"]
        lay_out({**case, "files": files}, folder)
        bench = Bench(program, folder)
        environment = {"PYTHONHASHSEED": seed}
        assert bench.index(environment=environment).code == 0
        outcome = bench.evaluate(environment=environment)
        assert_outcome(outcome, **case["expected"])
        found.append((comparable(outcome.report), index_digests(bench)))
    assert all(one == found[0] for one in found)


def index_digests(bench: Bench) -> list[tuple[str, str]]:
    return [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in sorted(bench.index_folder.glob("*.bin"))]


@pytest.mark.parametrize(("values", "p50", "p95"), CASES["EV-11"]["expected"]["vectors"])
def test_percentiles_are_of_the_nearest_rank(values, p50, p95):
    """EV-11: rank = ceil(p * n / 100), counted from 1."""
    found = summary(values)
    assert ((found.p50, found.p95) if found else (None, None)) == (p50, p95)


@pytest.mark.parametrize(
    ("n", "p50", "p95"),
    # ceil(0.50 n) and ceil(0.95 n): 19 -> 10, 18.05 -> 19;  41 -> 20.5 -> 21, 38.95 -> 39;  60 -> 30, 57
    [(19, 10, 19), (41, 21, 39), (60, 30, 57)],
)
def test_percentiles_of_other_counts(n, p50, p95):
    """EV-11"""
    found = summary(range(n, 0, -1))
    assert (found.p50, found.p95) == (p50, p95)


# Index


def cut_in_half(folder: Path) -> None:
    path = next(folder.glob("*.bin"))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def every_file(text: bytes) -> Callable[[Path], None]:
    return lambda folder: [path.write_bytes(text) for path in folder.iterdir()] and None


def one_file(suffix: str, text: bytes) -> Callable[[Path], None]:
    return lambda folder: next(folder.glob(f"*{suffix}")).write_bytes(text) and None


def replaced(suffix: str, old: bytes, new: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = next(folder.glob(f"*{suffix}"))
        before = path.read_bytes()
        assert old in before
        path.write_bytes(before.replace(old, new))

    return change


def one_bit(folder: Path) -> None:
    path = next(folder.glob("*.bin"))
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 1
    path.write_bytes(data)


def no_seal(folder: Path) -> None:
    (folder / "seal.json").unlink()


def a_link(folder: Path) -> None:
    path = next(folder.glob("*.bin"))
    path.rename(folder.parent / "elsewhere.bin")
    cut_in_half(folder.parent)
    path.symlink_to(folder.parent / "elsewhere.bin")


@pytest.mark.parametrize(
    "damage",
    [
        shutil.rmtree,
        cut_in_half,
        one_file(".bin", b"{}"),
        one_file(".bin", b""),
        one_file("seal.json", b"{}"),
        one_file("seal.json", b""),
        every_file(b"{}"),
        every_file(b""),
        replaced(".bin", b"vault-eval.index.v1", b"vault-eval.index.v0"),
        replaced("seal.json", b"vault-eval.seal.v1", b"vault-eval.seal.v9"),
        one_bit,
        no_seal,
        a_link,
    ],
    ids=[
        *(
            "none built",
            "cut in half",
            "index is {}",
            "index is empty",
            "seal is {}",
            "seal is empty",
            "all are {}",
            "all are empty",
        ),
        *("older index", "newer seal", "one bit", "no seal", "a link"),
    ],
)
def test_a_damaged_index_is_exit_10_with_the_command_and_is_not_mended(lay, damage):
    """IX-04"""
    bench = lay("IX-04")
    assert bench.index().code == 0
    damage(bench.index_folder)
    before = state_of(bench.folder)
    outcome = bench.evaluate()
    assert_outcome(
        outcome,
        exit=10,
        says=["index", ["there is no index", "corrupt", "version", "cannot be opened"], "vault-eval.py", "index --vault"],
    )
    assert state_of(bench.folder) == before
    assert bench.index().code == 0
    assert_outcome(bench.evaluate(), exit=0, rows=ON_TIDES)


def test_the_index_of_another_vault_is_exit_10(lay):
    """IX-04"""
    bench = lay("IX-04")
    bench.index()
    shutil.copytree(bench.folder / "vault", bench.folder / "other")
    assert_outcome(bench.evaluate(vault="other"), exit=10, says=["vault"])


def test_a_build_killed_at_any_moment_leaves_a_whole_index(lay, tmp_path):
    """IX-06: at every touch of the index folder; before the seal is renamed the old index stands, after it the new one."""
    bench = lay("IX-06")
    for number in range(30):
        (bench.folder / f"vault/n{number:03}.md").write_text(f"# n\n\nballast stone {number}\n", encoding="utf-8")
    bench.index()
    sha256 = bench.evaluate().run["index"]["sha256"]
    moment, kept = 1, 0
    while True:
        (bench.folder / "vault/n000.md").write_text(f"# n\n\nballast stone at moment {moment}\n", encoding="utf-8")
        built = bench.index(environment=killed_at(tmp_path / "site", bench.index_folder, moment))
        outcome = bench.evaluate()
        assert_outcome(outcome, exit=0, rows=ON_TIDES, counts={"scored": 1})
        kept += outcome.run["index"]["sha256"] == sha256
        sha256 = outcome.run["index"]["sha256"]
        if built.code == 0:
            break
        assert built.code == -9
        moment += 1
    assert moment > 10
    assert kept >= 5
    # What the killed builds left is taken away by none of them, since another build might be writing it; it is never read.
    assert_outcome(bench.evaluate(), exit=0, rows=ON_TIDES, stale=0)


def test_a_build_killed_while_it_writes_leaves_the_old_index(lay, tmp_path):
    """IX-06: the temporary file is cut off at other lengths."""
    bench = lay("IX-06")
    bench.index()
    sha256 = bench.evaluate().run["index"]["sha256"]
    (bench.folder / "vault/New.md").write_text("# New\n\nballast\n", encoding="utf-8")
    for size in (1, 100, 1000):
        assert bench.index(environment=disk_full_at(tmp_path / "site", size, dies=True)).code < 0
        outcome = bench.evaluate()
        assert_outcome(outcome, exit=0, rows=ON_TIDES)
        assert outcome.run["index"]["sha256"] == sha256
    refused = bench.index(environment=disk_full_at(tmp_path / "site", 100))
    assert_outcome(refused, exit=2, says=["could not be written"])
    assert_outcome(bench.evaluate(), exit=0, rows=ON_TIDES)
    assert bench.index().code == 0
    assert bench.evaluate().run["index"]["sha256"] != sha256


def test_a_first_build_that_is_killed_leaves_no_index(lay, tmp_path):
    """IX-06"""
    bench = lay("IX-06")
    for moment in (1, 2, 3, 4):
        assert bench.index(environment=killed_at(tmp_path / "site", bench.index_folder, moment)).code == -9
        assert_outcome(bench.evaluate(), exit=10, says=["index"])


def test_an_evaluation_leaves_the_vault_as_it_was(lay):
    """IX-07"""
    bench = lay("IX-07")
    bench.index()
    before = state_of(bench.folder / "vault")
    assert_outcome(bench.evaluate(), exit=0, rows=ON_TIDES)
    assert bench.evaluate("--out", bench.folder / "out", "--cold-samples", "1").code == 0
    assert state_of(bench.folder / "vault") == before


def test_a_vault_that_may_not_be_written_is_evaluated(lay):
    """IX-07"""
    bench = lay("IX-07")
    bench.index()
    set_writable(bench.folder / "vault", writable=False)
    before = state_of(bench.folder / "vault")
    for folder in ("vault", "vault/Sea", "labels"):
        assert_outcome(bench.evaluate(cwd=bench.folder / folder), exit=0, rows=ON_TIDES)
    assert_outcome(bench.evaluate(cwd=SCRIPTS), exit=0, rows=ON_TIDES)
    assert state_of(bench.folder / "vault") == before
    set_writable(bench.folder / "vault", writable=True)


def test_a_label_file_that_changes_meanwhile_is_exit_2(lay, tmp_path):
    """IX-09"""
    bench = lay("IX-09")
    bench.index()
    environment = changes(tmp_path / "site", f"open({str(bench.folder / bench.labels)!r}, 'a').write(' ')")
    outcome = bench.evaluate("--cold-samples", "1", environment=environment)
    assert_outcome(outcome, exit=2, says=[["changed", "snapshot"], "queries.json"])


def test_an_index_that_is_replaced_meanwhile_is_exit_2(lay, tmp_path):
    """IX-09"""
    bench = lay("IX-09")
    bench.index()
    shutil.copytree(bench.index_folder, bench.folder / "first")
    (bench.folder / "vault/New.md").write_text("# New\n\nspring\n", encoding="utf-8")
    bench.index()
    statement = f"shutil.copytree({str(bench.folder / 'first')!r}, {str(bench.index_folder)!r}, dirs_exist_ok=True)"
    outcome = bench.evaluate("--cold-samples", "1", environment=changes(tmp_path / "site", statement))
    assert_outcome(outcome, exit=2, says=[["changed", "snapshot"], "index"])


def test_a_page_that_changes_meanwhile_is_exit_2(lay, tmp_path):
    """IX-09"""
    bench = lay("IX-09")
    bench.index()
    statement = f"open({str(bench.folder / 'vault/Sea/Tides.md')!r}, 'a').write('more')"
    outcome = bench.evaluate("--cold-samples", "1", environment=changes(tmp_path / "site", statement))
    assert_outcome(outcome, exit=2, says=[["changed", "snapshot"], "Sea/Tides.md"])


def test_a_report_carries_the_digests_of_labels_and_index(built):
    """IX-09"""
    bench = built("IX-09")
    report = bench.evaluate().report
    assert report["labels"]["sources"][0]["sha256"] == hashlib.sha256((bench.folder / bench.labels).read_bytes()).hexdigest()
    assert report["runs"][0]["index"]["sha256"] == index_digests(bench)[0][1]


# Reports


class Elements(HTMLParser):
    """The elements, attributes and text of a page, as a browser would take it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def plain_elements(program, tmp_path) -> list[str]:
    """The elements of the page for a report of harmless text."""
    case = {"files": {"labels/queries.json": {"queries": [["t", "spring tides", ["Sea/Tides.md"]]]}}}
    bench = Bench(program, tmp_path / "plain")
    lay_out(case, bench.folder)
    bench.index()
    assert bench.evaluate("--out", bench.folder / "plain.html").code == 0
    return Elements((bench.folder / "plain.html").read_text(encoding="utf-8")).elements


def test_text_of_the_vault_stays_text_in_the_page(built, plain_elements):
    """RP-01"""
    bench = built("RP-01")
    assert bench.evaluate("--out", bench.folder / "r.html").code == 0
    page = (bench.folder / "r.html").read_text(encoding="utf-8")
    found = Elements(page)
    assert found.elements.count("img") == 0
    for element in ("script", "svg", "iframe", "object"):
        assert found.elements.count(element) <= plain_elements.count(element)
    assert "</script><script>alert(1)</script>" in found.text
    assert "<img src=x onerror=alert(1)>" in found.text
    for raw in ("</script><script>alert(1)", "<b>bold</b>", "<b>x</b>", "<script>alert(2)"):
        assert raw not in page
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert not [value for name, value in found.attributes if name in ("href", "src") and value.startswith("javascript")]
    assert "\u202e" not in page


def test_text_of_the_vault_stays_text_in_markdown_and_in_the_terminal(built):
    """RP-01"""
    bench = built("RP-01")
    for form in ("markdown", "text"):
        printed = bench.evaluate(form=form)
        assert printed.code == 0
        assert "\u202e" not in printed.out
        assert "\x1b" not in printed.out
    markdown = bench.evaluate(form="markdown").out
    rows = [line for line in markdown.split("\n") if line.startswith("|")]
    assert rows
    assert "<script>" not in markdown
    assert "<img" not in markdown
    assert "](javascript:" not in markdown


def test_a_name_with_a_line_feed_breaks_no_row(lay):
    """NM-10"""
    bench = lay("NM-10")
    bench.index()
    labels = [["two", "bowline knot", ["Sea/Tides.md"]]]
    (bench.folder / "labels/two.json").write_text(label_file(labels), encoding="utf-8")
    for form in ("markdown", "text"):
        printed = bench.evaluate(labels="labels/two.json", form=form)
        assert printed.code == 0
        assert "two\nlines" not in printed.out
        assert "two\nlines" not in printed.err
    assert "two\nlines" not in bench.index().out


@pytest.mark.parametrize("encoding", ["cp1252:strict", "ascii:strict", "utf-8", "utf-16"])
def test_a_console_without_the_letters_gets_a_whole_report(lay, encoding):
    """RP-03"""
    bench = lay("RP-03")
    environment = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    assert bench.index(environment=environment).code == 0
    outcome = bench.evaluate("--out", bench.folder / "out", environment=environment)
    assert outcome.code == 0, outcome.err
    out = outcome.out
    if encoding == "utf-16":
        out = out.encode("utf-8", "surrogateescape").decode("utf-16")
    rows = {row["id"]: row for row in json.loads(out)["runs"][0]["queries"]}
    assert list(row_differences({"潮": "🚀 潮.md"}, rows)) == []
    for name in ("report.json", "report.md", "report.html"):
        assert ("潮" in (bench.folder / "out" / name).read_text(encoding="utf-8")) == (name != "report.md")
    for form in ("text", "markdown"):
        assert bench.evaluate(form=form, environment=environment).code == 0


def test_stdout_is_one_json_document_and_nothing_else(built):
    """RP-04"""
    bench = built("RP-04")
    for arguments in ((), ("--out", bench.folder / "out"), ("--fail-under", "0.5")):
        outcome = bench.evaluate(*arguments)
        assert outcome.out.lstrip().startswith("{")
        assert outcome.out.endswith("}\n")
        metrics = outcome.run["metrics"]
        assert [metrics["recall@1"]["value"], metrics["recall@1"]["n"]] == [None, 0]
        assert [metrics["no_result_accuracy"]["value"], metrics["no_result_accuracy"]["n"]] == [1.0, 1]


def older_report(bench) -> bytes:
    """A report of ours at `out/old.json`, longer than the one that will replace it."""
    (bench.folder / "out/old.json").unlink()
    assert bench.evaluate("--out", bench.folder / "out/old.json").code == 0
    longer = (bench.folder / "out/old.json").read_bytes() + b" " * 100_000
    (bench.folder / "out/old.json").write_bytes(longer)
    return longer


def test_a_file_of_somebody_else_is_no_report_and_is_kept(lay):
    """RP-06"""
    bench = lay("RP-06")
    bench.index()
    assert_outcome(bench.evaluate("--out", bench.folder / "out/old.json"), exit=2, says=["out/old.json", "name another file"])
    assert (bench.folder / "out/old.json").read_bytes() == b'{"keep":"me"}'


def test_an_old_report_is_replaced_whole(lay):
    """RP-06"""
    bench = lay("RP-06")
    bench.index()
    older_report(bench)
    outcome = bench.evaluate("--out", bench.folder / "out/old.json")
    assert outcome.code == 0
    assert comparable(json.loads((bench.folder / "out/old.json").read_bytes())) == comparable(outcome.report)
    assert sorted(path.name for path in (bench.folder / "out").iterdir()) == ["isdir.json", "link.json", "old.json"]


@pytest.mark.parametrize("place", ["out/isdir.json", "out/link.json", "out/old.json/r.json"])
def test_a_report_where_something_else_stands_is_refused(built, place):
    """RP-06"""
    bench = built("RP-06")
    before = state_of(bench.folder / "out")
    assert_outcome(bench.evaluate("--out", bench.folder / place), exit=2, says=["out"])
    assert state_of(bench.folder / "out") == before
    assert (bench.folder / "out/old.json").read_bytes() == b'{"keep":"me"}'


def test_a_folder_that_is_missing_is_made(lay):
    """RP-06"""
    bench = lay("RP-06")
    bench.index()
    assert bench.evaluate("--out", bench.folder / "missing/dir/r.json").code == 0
    assert json.loads((bench.folder / "missing/dir/r.json").read_bytes())["schema"] == "vault-eval.report.v1"


@pytest.mark.parametrize("size", [1, 1000])
def test_a_disk_that_is_full_leaves_the_old_report(lay, tmp_path, size):
    """RP-06"""
    bench = lay("RP-06")
    bench.index()
    older_report(bench)
    before = state_of(bench.folder / "out")
    outcome = bench.evaluate("--out", bench.folder / "out/old.json", environment=disk_full_at(tmp_path / "site", size))
    assert outcome.code == 2, (outcome.code, outcome.err)
    assert "could not be written" in outcome.err
    after = state_of(bench.folder / "out")
    assert {name: told[3] for name, told in after.items()} == {name: told[3] for name, told in before.items()}


def test_no_data_is_told_apart_from_zero_in_every_format(built):
    """RP-08"""
    bench = built("RP-08")
    outcome = bench.evaluate("--out", bench.folder / "out")
    assert_outcome(outcome, **{**CASES["RP-08"]["expected"], "shows": []})
    page = (bench.folder / "out/report.html").read_text(encoding="utf-8")
    parsed = Elements(page[page.index("<body") :].split("<script")[0])
    for text in (bench.evaluate(form="text").out, bench.evaluate(form="markdown").out, parsed.text):
        assert "no data" in text
        for wrong in ("0.00", "0%", "0 %", "nan", "NaN", "None"):
            assert wrong not in text


# Comparing runs


@pytest.mark.parametrize(
    ("labels", "arguments", "exit_code", "says"),
    [
        ("labels/queries.json", ("--fail-under", "0.8"), 0, []),
        ("labels/queries.json", ("--fail-under", "0.8000001"), 1, []),
        ("labels/queries.json", ("--fail-under", "recall@5=0.8", "--fail-under", "mrr@10=0.81"), 1, ["mrr@10"]),
        ("labels/queries.json", ("--fail-under", "0.8", "--min-n", "6"), 3, ["5"]),
        ("labels/none.json", ("--fail-under", "0.8"), 3, [["no data", "n = 0", "no scored"]]),
        ("labels/none.json", ("--fail-under", "0"), 3, [["no data", "n = 0", "no scored"]]),
        ("labels/none.json", ("--fail-under", "no_result_accuracy=1"), 0, []),
        ("labels/queries.json", ("--fail-under", "nan"), 2, []),
        ("labels/queries.json", ("--fail-under", "inf"), 2, []),
        ("labels/queries.json", ("--fail-under", "80"), 2, []),
        ("labels/queries.json", ("--fail-under", "-0.1"), 2, []),
        ("labels/queries.json", ("--fail-under", "0,8"), 2, []),
        ("labels/queries.json", ("--fail-under", "80%"), 2, []),
        ("labels/queries.json", ("--fail-under", "recal@5=0.8"), 2, ["recal@5"]),
    ],
)
def test_a_gate_passes_at_its_limit_and_never_without_data(built, labels, arguments, exit_code, says):
    """CP-06"""
    bench = built("CP-06")
    assert_outcome(bench.evaluate(*arguments, labels=labels), exit=exit_code, says=says)


def saved_run(bench: Bench, name: str, *arguments: str, labels: str | None = None) -> Path:
    """A report as the program saves it, from an index built anew."""
    bench.index()
    assert bench.evaluate("--out", bench.folder / "runs" / name, *arguments, labels=labels).code == 0
    return bench.folder / "runs" / name


def compared(bench: Bench, *runs: Path) -> Outcome:
    return bench.program.call("vault-eval.py", "compare", *runs, "--format", "json", cwd=bench.folder)


def better_and_worse(outcome: Outcome) -> tuple[list[str], list[str]]:
    return tuple([one if isinstance(one, str) else one["id"] for one in outcome.report[key]] for key in ("better", "worse"))


@pytest.mark.parametrize("other", ["labels", "depth"])
def test_runs_of_other_labels_or_depth_are_not_compared(lay, other):
    """CP-01"""
    bench = lay("CP-01")
    base = saved_run(bench, "base.json")
    arguments, labels = ((), "labels/other.json") if other == "labels" else (("--top", "20"), None)
    changed = saved_run(bench, "other.json", *arguments, labels=labels)
    outcome = compared(bench, base, changed)
    assert outcome.code == 2
    assert outcome.out == ""
    assert any(word in outcome.err for word in (["labels"] if other == "labels" else ["top", "depth"]))
    assert any(word in outcome.err for word in ("not comparable", "different", "differ"))


def test_a_mean_that_stays_does_not_hide_what_got_better_and_worse(lay):
    """CP-02"""
    bench = lay("CP-02")
    expected = CASES["CP-02"]["expected"]
    base = saved_run(bench, "base.json")
    for page in ("A", "B"):
        gold, other = bench.folder / f"vault/{page}/Gold.md", bench.folder / f"vault/{page}/Other.md"
        texts = gold.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")
        gold.write_text(texts[1], encoding="utf-8")
        other.write_text(texts[0], encoding="utf-8")
    outcome = compared(bench, base, saved_run(bench, "candidate.json"))
    assert outcome.code == 0
    for name, delta in expected["delta"].items():
        assert outcome.report["metrics"][name]["delta"] == pytest.approx(delta, abs=1e-12)
    assert better_and_worse(outcome) == (expected["better"], expected["worse"])
    printed = bench.program.call("vault-eval.py", "compare", base, bench.folder / "runs/candidate.json", cwd=bench.folder)
    assert "'a'" in printed.out or " a" in printed.out


@pytest.mark.parametrize("pair", ["two without data", "one with itself", "rounding noise"])
def test_no_data_identity_and_rounding_are_no_change(lay, pair):
    """CP-04"""
    bench = lay("CP-04")
    labels = "labels/queries.json" if pair == "two without data" else "labels/scored.json"
    first = saved_run(bench, "first.json", labels=labels)
    second = first if pair == "one with itself" else saved_run(bench, "second.json", labels=labels)
    if pair == "rounding noise":
        text = first.read_text(encoding="utf-8")
        assert '"5": 1.0' in text
        first.write_text(text.replace('"5": 1.0', '"5": 0.9999999999999999'), encoding="utf-8")
    outcome = compared(bench, first, second)
    assert outcome.code == 0
    assert better_and_worse(outcome) == ([], [])
    assert outcome.report["metrics"]["mrr@10"]["delta"] in (None, 0.0)
    assert "NaN" not in outcome.out
