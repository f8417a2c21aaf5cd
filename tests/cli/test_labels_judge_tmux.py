"""A pool judged in a real terminal: tmux plays the person's window, keys go in and the screen is read back."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "vault-eval.py"
NEEDED = "needs tmux on the PATH"
COLUMNS, ROWS = 80, 24
WAIT_MAX_SECONDS = 30
NOTES = {
    "Boat.md": "# Winter\n\nLay the boat up before the first frost.\n",
    # A title that sets the window's own, and one that clears the screen, if a terminal gets to see it.
    "Storm.md": "# Storms\n\nwinter \x1b]2;owned\x07 storms \x1b[2J\x1b[H gone\n",
    "Long.md": "# Boat log\n\n" + "".join(f"winter day {day}\n" for day in range(1, 41)),
}
GRADES = {"Boat.md": "y", "Storm.md": "n", "Long.md": "p"}


class Window:
    """One window of a tmux server of its own, which has no configuration and no other windows."""

    def __init__(self) -> None:
        # A socket's path may be about 100 bytes long, and a test's own folder can be deeper.
        self._folder = Path(tempfile.mkdtemp(prefix="tmux-"))
        self._server = ["tmux", "-u", "-f", os.devnull, "-S", str(self._folder / "socket")]
        self._run("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "sh")

    def type(self, *keys: str) -> None:
        for key in keys:
            self._run("send-keys", key)

    def wait(self, pattern: str) -> str:
        """The screen, as soon as `pattern` is found in it."""
        end = time.monotonic() + WAIT_MAX_SECONDS
        while time.monotonic() < end:
            shown = self._run("capture-pane", "-p")
            if re.search(pattern, shown, re.MULTILINE):
                return shown
            time.sleep(0.05)
        pytest.fail(f"{pattern!r} is not on the screen:\n{shown}")

    def close(self) -> None:
        self._run("kill-server")
        shutil.rmtree(self._folder)

    @property
    def title(self) -> str:
        return self._run("display-message", "-p", "#{pane_title}")

    def _run(self, *words: str) -> str:
        done = subprocess.run([*self._server, *words], capture_output=True, text=True, encoding="utf-8", check=True)
        return done.stdout


class Session:
    """A vault, its pool, and a window in which it is judged."""

    def __init__(self, folder: Path) -> None:
        self.vault, self.data, self.pool = folder / "Notes", folder / "data", folder / "pool.json"
        self.vault.mkdir()
        for name, text in NOTES.items():
            (self.vault / name).write_text(text, encoding="utf-8")
        needs = folder / "needs.txt"
        needs.write_text("boat in winter\n", encoding="utf-8")
        self.run("index", "--vault", self.vault)
        self.run("labels", "pool", "--vault", self.vault, "--needs", needs, "--out", self.pool)
        (query,) = json.loads(self.pool.read_text(encoding="utf-8"))["queries"]
        self.pages = [item["page"] for item in query["items"]]
        self.window = Window()

    def run(self, *words: object) -> str:
        done = subprocess.run(self._command(*words), capture_output=True, text=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def begin(self) -> None:
        line = shlex.join(self._command("labels", "judge", "--vault", self.vault, self.pool))
        self.window.type("clear", "Enter", line, "Enter")

    def answer(self, key: str, place: int) -> str:
        """The screen after `key` at the item of `place`, when the next one is there."""
        self.window.type(key, "Enter")
        return self.window.wait(rf"^\[{place + 1} of 6\](.|\n)*^> *$")

    def _command(self, *words: object) -> list[str]:
        return [sys.executable, str(SCRIPT), *map(str, words), "--data", str(self.data)]


@pytest.fixture
def session(tmp_path):
    if shutil.which("tmux") is None:
        (pytest.fail if os.environ.get("REQUIRE_TMUX") == "1" else pytest.skip)(NEEDED)
    made = Session(tmp_path)
    yield made
    made.window.close()


def test_a_pool_is_judged_in_a_terminal_stopped_and_gone_on_with(session):
    session.begin()
    shown = session.window.wait(r"^\[1 of 6\](.|\n)*^> *$")
    assert "query: boat in winter" in shown
    assert "y yes · p partly · n no" in shown
    session.answer(GRADES[session.pages[0]], 1)
    session.window.type("q", "Enter")
    session.window.wait(r"^1 of 6 judged")
    session.begin()
    session.window.wait(r"^\[2 of 6\](.|\n)*^> *$")
    session.answer(GRADES[session.pages[1]], 2)
    # The three notes, and each of them a second time in an order of its own.
    session.answer(GRADES[session.pages[2]], 3)
    again = json.loads(session.pool.read_text(encoding="utf-8"))["again"]
    assert len(again) == 3
    for place in (4, 5):
        session.answer("n", place)
    session.window.type("n", "Enter")
    shown = session.window.wait(r"^6 of 6 judged")
    # First y, n, p; then n three times: one of three alike.
    assert "33% alike, n = 3" in shown
    (label,) = json.loads(session.run("labels", "judge", "--vault", session.vault, session.pool, "--labels"))["queries"]
    assert label["grades"] == {"Boat.md": 2, "Long.md": 1, "Storm.md": 0}


def test_no_order_in_a_note_reaches_the_terminal_and_a_long_note_leaves_the_query_on_the_screen(session):
    session.begin()
    session.window.wait(r"^\[1 of 6\](.|\n)*^> *$")
    screens = {}
    for place, page in enumerate(session.pages, 1):
        screens[page] = session.window.wait(rf"^\[{place} of 6\](.|\n)*^> *$")
        session.answer("l", place)
    assert r"winter \x1b]2;owned\x07 storms \x1b[2J\x1b[H gone" in screens["Storm.md"]
    assert "owned" not in session.window.title
    assert "w shows the whole note" in screens["Long.md"]
    assert all("query: boat in winter" in screen for screen in screens.values())
