"""An evaluation reads: proof from inside the interpreter, from an empty network, from git, and from write-protected folders.

The real commands run in processes of their own. `REQUIRE_NETNS=1` and `REQUIRE_MOUNTNS=1` turn the skips of this file,
where a namespace is not permitted, into failures.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCH, EVERY = "evaluate-retrieval.py", "vault-eval.py"
SHIPPED = ("scripts", "fixtures", "requirements")

# Runs a script under an audit hook and writes each event that could change a file, start a process or reach a network.
# An entry is [event, path or address]; a path that another descriptor may be the base of is told by a leading "?".
WATCHER = """
import json, os, runpy, sys
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
TWO_PATHS = {"os.rename", "os.link", "os.symlink", "shutil.move", "shutil.copyfile", "shutil.copytree"}
ONE_PATH = {"os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.chown", "os.chflags", "os.truncate", "os.utime",
            "os.setxattr", "os.removexattr", "os.lockf", "shutil.rmtree", "shutil.chown", "tempfile.mkdtemp", "tempfile.mkstemp"}
PROCESS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile", "pty.")
NETWORK = ("socket.", "urllib.", "http.", "ftplib.", "smtplib.", "ssl.", "poplib.", "imaplib.", "nntplib.", "telnetlib.")

def place(path):
    if isinstance(path, int):
        try:
            return os.readlink(f"/proc/self/fd/{path}")
        except OSError:  # another system than Linux
            return "descriptor"
    path = os.fsdecode(path)
    return os.path.realpath(path) if os.path.isabs(path) else "?" + path

def watch(event, arguments):
    if event == "open":
        path, _, flags = arguments
        found = [place(path)] if flags & WRITING and not isinstance(path, int) else []
    elif event in TWO_PATHS:
        found = [place(arguments[0]), place(arguments[1])]
    elif event in ONE_PATH:
        found = [place(arguments[0])]
    elif event.startswith(PROCESS) or event.startswith(NETWORK):
        found = [repr(arguments[:2])]
    else:
        return
    for one in found:
        os.write(log, (json.dumps([event, one]) + "\\n").encode())

sys.argv = sys.argv[2:]
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
sys.addaudithook(watch)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A vault with links, folders and a label note; labels beside it; and places for data and reports."""

    folder: Path
    plugin: Path = ROOT

    @property
    def vault(self) -> Path:
        return self.folder / "My vault"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def out(self) -> Path:
        return self.folder / "out" / "report"

    def note(self, page: str, text: str) -> None:
        place = self.vault / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def command(self, script: str, *arguments: str) -> list[str]:
        return [str(self.plugin / "scripts" / script), *arguments, "--vault", str(self.vault), "--data", str(self.data)]

    def bench(self, *arguments: str) -> list[str]:
        labels = str(self.folder / "labels.json")
        return self.command(BENCH, "--queries", labels, "--cold-samples", "0", "--format", "json", *arguments)

    def retrieve(self) -> list[str]:
        script, *places = self.command(EVERY)
        return [script, "retrieve", *places, "--explain", "--", "spring tides"]

    def every_command(self) -> list[list[str]]:
        index, doctor = self.command(EVERY, "index"), self.command(EVERY, "doctor")
        return [index, [*index, "--check"], self.bench(), self.bench("--out", str(self.out)), self.retrieve(), doctor]

    def run(self, command: list[str], *before: str, **settings: object) -> subprocess.CompletedProcess[str]:
        settings = {"cwd": self.folder, **settings}
        line = [*before, sys.executable, *command]
        return subprocess.run(line, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120, **settings)

    def passes(self, command: list[str], *before: str, **settings: object) -> str:
        done = self.run(command, *before, **settings)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    def watched(self, command: list[str], **settings: object) -> list[tuple[str, str]]:
        """What the command did that could change a file, start a process or reach a network."""
        watcher, log = self.folder / "watcher.py", self.folder / "watched.log"
        watcher.write_text(WATCHER, encoding="utf-8")
        log.unlink(missing_ok=True)
        self.passes([str(watcher), str(log), *command], **settings)
        return [(event, path) for event, path in map(json.loads, log.read_text(encoding="utf-8").splitlines())]


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Sandbox]:
    box = Sandbox(Path(os.path.realpath(tmp_path)))
    lay_out(box)
    yield box
    for place, folders, _ in os.walk(box.folder):
        for name in folders:
            Path(place, name).chmod(0o700)  # so that pytest can remove what was protected


def lay_out(box: Sandbox) -> None:
    box.note(
        "Sea/Tides.md", "---\naliases: [Flood]\n---\n# Tides\n\nSpring tides follow the moon.\n\n## Neap tides\n\nSmaller.\n"
    )
    box.note("Garden/Compost.md", "# Compost heap\n\nTurn the heap every second week.\n")
    box.note("Garden/Résumé.md", "Cut above an outward bud.\n")
    box.note(".obsidian/app.json", '{"userIgnoreFilters": ["Old/"]}')
    box.note("Old/Tides.md", "spring tides of 1998\n")
    (box.vault / "Linked.md").symlink_to("Sea/Tides.md")
    labels = [
        {"id": "found", "query": "spring tides", "expected_pages": ["Sea/Tides.md"]},
        {"id": "section", "query": "neap", "expected_pages": ["Sea/Tides.md#Neap tides"]},
        {"id": "missed", "query": "zzyzx", "expected_pages": ["Garden/Compost.md"]},
        {"id": "gone", "query": "gone", "expected_pages": ["Gone.md"]},
        {"id": "none", "query": "xyzzy", "expected_pages": []},
    ]
    text = json.dumps({"schema": "claude-obsidian.retrieval-queries.v1", "queries": labels})
    (box.folder / "labels.json").write_text(text, encoding="utf-8")


@pytest.fixture
def indexed(box: Sandbox) -> Sandbox:
    box.passes(box.command(EVERY, "index"))
    return box


def outside(events: list[tuple[str, str]], *allowed: Path) -> list[tuple[str, str]]:
    """The events that touch neither an allowed place nor one below it; a place that is not known is never allowed."""
    return [
        (event, path) for event, path in events if not any((path + os.sep).startswith(str(place) + os.sep) for place in allowed)
    ]


def state(folder: Path) -> dict[str, tuple[int, ...]]:
    """All of a folder that must stay: kind and mode, size, times of change, inode, number of links; not the time of access."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        now = path.lstat()
        found[str(path)] = (now.st_mode, now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino, now.st_nlink, now.st_uid)
    return found


# (a) from inside


@pytest.mark.parametrize("where", ["history", "out"])
def test_an_evaluation_writes_only_its_report_and_starts_and_reaches_nothing(indexed, where):
    command = indexed.bench() if where == "history" else indexed.bench("--out", str(indexed.out))
    events = indexed.watched(command)
    assert outside(events, indexed.data / "reports" if where == "history" else indexed.out.parent) == []
    written = {Path(path).name for event, path in events if event == "os.rename" and not path.endswith(".tmp")}
    assert {"report.json", "report.md", "pages.json"} <= written


def test_an_evaluation_to_standard_output_that_cannot_keep_its_report_writes_nothing(indexed):
    """The report is printed all the same; the data folder is a place where nothing can be made."""
    shutil.rmtree(indexed.data / "reports", ignore_errors=True)
    (indexed.data / "reports").write_text("a file where the folder would be", encoding="utf-8")
    before = state(indexed.data)
    assert json.loads(indexed.passes(indexed.bench()))["schema"] == "vault-eval.report.v1"
    assert state(indexed.data) == before


def test_every_searcher_of_our_own_writes_only_the_report_and_starts_and_reaches_nothing(indexed):
    specs = "keyword,vector,hybrid,hybrid+rerank,hybrid+rerank:pool=60,title,grep,random"
    events = indexed.watched(indexed.bench("--retriever", specs))
    assert outside(events, indexed.data / "reports") == []


def test_variants_are_built_in_the_data_folder_alone(indexed):
    events = indexed.watched(indexed.bench("--vary", "chunk-chars=1000", "--vary", "stem=english"))
    assert outside(events, indexed.data / "reports", indexed.data / "variants") == []
    assert any(event == "os.rename" and path.endswith("seal.json") for event, path in events)


@pytest.fixture
def other_index(box, vault_meta):
    """The vault with an index of claude-obsidian in it, and with none of ours."""
    box.note("wiki/Moon.md", "Spring tides follow the moon.\n")
    type(vault_meta)(box.vault).index()
    return box


def test_an_index_of_claude_obsidian_is_read_and_nothing_else_is_done(other_index):
    events = other_index.watched(other_index.bench("--index", str(other_index.vault / ".vault-meta")))
    assert outside(events, other_index.data) == []


def test_claude_obsidian_is_asked_on_a_vault_and_from_a_checkout_that_nobody_may_write(
    other_index, claude_obsidian_root, tmp_path
):
    product = tmp_path / "product"
    shutil.copytree(claude_obsidian_root, product, ignore=shutil.ignore_patterns(".git", "__pycache__"))
    protect(other_index.vault)
    protect(product)
    before = state(other_index.vault), state(product)
    report = json.loads(other_index.passes(other_index.bench("--product-root", str(product)), cwd=other_index.vault))
    assert report["runs"][0]["counts"]["error"] == 0
    assert (state(other_index.vault), state(product)) == before


def test_a_program_that_is_asked_leaves_its_files_in_a_folder_that_goes_with_it(indexed):
    temporary = indexed.folder / "temporary"
    temporary.mkdir()
    program = f'command:{sys.executable} -c \'open("made here", "w"); print("Sea/Tides.md")\' -- {{query}}'
    asked, settings = indexed.bench("--retriever", program), {"env": {**os.environ, "TMPDIR": str(temporary)}}
    before = state(indexed.vault)
    events = indexed.watched(asked, cwd=indexed.vault, **settings)
    done = outside(events, indexed.data / "reports", temporary, Path(os.devnull))
    assert {event for event, _ in done} == {"subprocess.Popen", "os.remove"}
    assert {path for event, path in done if event == "os.remove"} == {"?made here"}, "by its name in the folder, which is open"
    assert state(indexed.vault) == before
    assert list(temporary.iterdir()) == []


def test_a_search_writes_nothing_at_all(indexed):
    assert indexed.watched(indexed.retrieve()) == []


def test_doctor_writes_nothing_at_all(indexed):
    assert indexed.watched(indexed.command(EVERY, "doctor")) == []


def test_a_check_of_the_index_writes_nothing_at_all(indexed):
    assert indexed.watched([*indexed.command(EVERY, "index"), "--check"]) == []


@pytest.mark.parametrize("when", ["first", "again"])
def test_index_writes_only_its_own_folder_and_bytecode_in_the_data_folder(box, when):
    if when == "again":
        box.passes(box.command(EVERY, "index"))
        box.note("Sea/New.md", "a new note\n")
    events = box.watched(box.command(EVERY, "index"))
    assert [
        one for one in outside(events, box.data / "indexes", box.data / "bytecode") if one != ("os.mkdir", str(box.data))
    ] == []
    assert any(event == "os.rename" and path.endswith("seal.json") for event, path in events)


@pytest.mark.parametrize(
    ("act", "event"),
    [
        ("open(place, 'a').close()", "open"),
        ("os.close(os.open(place, os.O_RDWR))", "open"),
        ("os.rename(place, place + '2')", "os.rename"),
        ("os.remove(place)", "os.remove"),
        ("os.chmod(place, 0o600)", "os.chmod"),
        ("os.utime(place)", "os.utime"),
        ("os.mkdir(place + '.d')", "os.mkdir"),
        ("os.truncate(place, 1)", "os.truncate"),
        ("pathlib.Path(place + '.link').symlink_to(place)", "os.symlink"),
        ("os.link(place, place + '.hard')", "os.link"),
        ("os.chdir(os.path.dirname(place)); open('Tides.md', 'a').close()", "open"),
        ("subprocess.run(['true'])", "subprocess.Popen"),
        ("socket.socket().close()", "socket.__new__"),
    ],
)
def test_the_watcher_sees_what_it_is_there_to_see(box, act, event):
    """A hook that saw nothing would let every test above pass."""
    culprit = box.folder / "culprit.py"
    place = str(box.vault / "Sea" / "Tides.md")
    culprit.write_text(f"import os, pathlib, socket, subprocess, sys\nplace = {place!r}\n{act}\n", encoding="utf-8")
    seen = outside(box.watched([str(culprit)]), box.data)
    assert event in [name for name, _ in seen]


# (b) without a network


def unshared(require: str, kind: str) -> list[str]:
    """The words that start a command in a namespace of its own; the test is skipped where that is not permitted."""
    for words in (["unshare", kind], ["unshare", "--map-root-user", kind]):
        try:
            if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
                return words
        except OSError:
            break
    reason = f"`unshare {kind}` is not permitted here"
    if os.environ.get(require) == "1":
        pytest.fail(f"{reason}, and {require}=1 asks for it")
    pytest.skip(reason)


@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are Linux's")
def test_every_command_works_without_any_network_and_finds_the_same(box):
    alone = unshared("REQUIRE_NETNS", "--net")
    code = (
        "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as error:\n    print(error.errno)"
    )
    assert box.run(["-c", code], *alone).stdout.split() == ["101"]  # ENETUNREACH: not even loopback is there
    for command in box.every_command():
        box.passes(command, *alone)
    assert figures(box.passes(box.bench(), *alone)) == figures(box.passes(box.bench()))


@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are Linux's")
def test_cold_latency_is_measured_without_any_network(indexed):
    alone = unshared("REQUIRE_NETNS", "--net")
    report = json.loads(indexed.passes(indexed.bench("--cold-samples", "2"), *alone))
    assert report["timing"]["runs"][0]["cold"]["n"] == 2


def figures(text: str) -> dict[str, object]:
    report = json.loads(text)
    del report["timing"]
    return report


# (c) what git and the file system say


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.fileMode=true", "-c", "gc.auto=0"]
    command = ["git", "--no-optional-locks", "-C", str(folder), *settings, *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout


def test_a_vault_under_git_stays_clean(box):
    git(box.vault, "init", "--quiet")
    git(box.vault, "add", "--all")
    git(box.vault, "commit", "--quiet", "--message", "notes")
    listed, status = git(box.vault, "ls-files", "-s"), git(box.vault, "status", "--porcelain", "--ignored")
    before = state(box.vault)
    for command in box.every_command():
        box.passes(command)
    assert (git(box.vault, "ls-files", "-s"), git(box.vault, "status", "--porcelain", "--ignored")) == (listed, status)
    assert status == ""
    assert state(box.vault) == before


def protect(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)


def test_every_command_works_on_a_vault_that_nobody_may_write(box):
    protect(box.vault)
    before = state(box.vault)
    for command in box.every_command():
        box.passes(command)
    assert state(box.vault) == before


@pytest.mark.skipif(sys.platform != "linux", reason="mount namespaces are Linux's")
def test_every_command_works_on_a_vault_and_a_plugin_mounted_read_only(tmp_path):
    """The superuser may write whatever the mode says, but not on such a mount: a write there would be an error."""
    alone = unshared("REQUIRE_MOUNTNS", "--mount")
    box = Sandbox(Path(os.path.realpath(tmp_path)), plugin_copy(tmp_path))
    lay_out(box)
    mounts = "".join(
        f"mount --bind '{place}' '{place}' && mount -o remount,ro,bind '{place}' && " for place in (box.vault, box.plugin)
    )
    probe = f"! touch '{box.vault}/probe' 2>&1 && "
    for command in box.every_command():
        box.passes(command, *alone, "sh", "-c", mounts + probe + 'exec "$@"', "sh")


# (d) times, working directory, the plugin's own folder


def test_no_time_but_that_of_access_changes(box):
    for path in sorted(box.vault.rglob("*"), reverse=True):
        os.utime(path, ns=(10**18, 10**18 + 7), follow_symlinks=False)
    before = state(box.vault)
    for command in box.every_command():
        box.passes(command)
    assert state(box.vault) == before


def plugin_copy(folder: Path) -> Path:
    plugin = Path(os.path.realpath(folder)) / "the plugin"
    for name in SHIPPED:
        shutil.copytree(ROOT / name, plugin / name, ignore=shutil.ignore_patterns("__pycache__"))
    return plugin


@pytest.mark.parametrize("where", ["vault", "plugin"])
def test_the_working_directory_may_be_the_vault_or_the_plugin_and_nothing_is_left_there(tmp_path, where):
    box = Sandbox(Path(os.path.realpath(tmp_path)), plugin_copy(tmp_path))
    lay_out(box)
    before = state(box.vault), state(box.plugin)
    for command in box.every_command():
        box.passes(command, cwd=box.vault if where == "vault" else box.plugin)
    assert (state(box.vault), state(box.plugin)) == before


def test_nothing_is_written_beside_the_scripts_even_when_they_may_not_be_written(tmp_path):
    box = Sandbox(Path(os.path.realpath(tmp_path)), plugin_copy(tmp_path))
    lay_out(box)
    protect(box.plugin)
    before = state(box.plugin)
    for command in box.every_command():
        assert outside(box.watched(command), box.data, box.out.parent) == []
    assert state(box.plugin) == before


def test_the_shipped_example_leaves_the_plugin_and_the_working_directory_as_they_were(tmp_path):
    plugin = plugin_copy(tmp_path)
    box = Sandbox(Path(os.path.realpath(tmp_path)), plugin)
    before = state(plugin)
    box.passes([str(plugin / "scripts" / BENCH), "--fixture", "--cold-samples", "0", "--data", str(box.data)], cwd=plugin)
    assert state(plugin) == before
