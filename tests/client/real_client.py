"""The real Claude Code client in a throw-away home, with the stub for its model. Nothing of this machine's owner is read.

The client is looked for in `$CLAUDE_BIN` and below `$CLAUDE_CLIENT_DIR` alone: one on the PATH may be logged in.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stub_api import Block, Reply, Request, StubApi, ToolResult, text, tool

ROOT = Path(__file__).resolve().parents[2]
VERSION = "2.1.332"
TURN_MAX_SECONDS = 120
# Commands that need no model get an address where nothing listens.
NOWHERE = "http://127.0.0.1:9"

_SWITCHED_ON = (
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
)

# What the model does in one answer: a block, several, or what it makes of the request.
Answer = Block | list[Block]
Step = Answer | Callable[[Request], Answer]


def find_client(surroundings: Mapping[str, str]) -> str | None:
    """The native program, or None."""
    below = Path(surroundings.get("CLAUDE_CLIENT_DIR") or os.devnull)
    found = sorted(map(str, below.glob("node_modules/@anthropic-ai/claude-code-*/claude")))
    candidates = [surroundings.get("CLAUDE_BIN"), *found]
    return next((one for one in candidates if one and os.access(one, os.X_OK)), None)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one prompt led to."""

    exit_code: int
    events: list[dict[str, object]]
    errors: str
    calls: list[Request]

    @property
    def result(self) -> dict[str, object]:
        return [event for event in self.events if event["type"] == "result"][-1]

    @property
    def denied(self) -> list[str]:
        """What was refused, as the client lists it: the command, or the tool and its file."""
        return [_shown(one["tool_name"], one["tool_input"]) for one in self.result["permission_denials"]]

    @property
    def main(self) -> list[Request]:
        return [call for call in self.calls if not call.is_agent]

    @property
    def agent(self) -> list[Request]:
        return [call for call in self.calls if call.is_agent]

    @property
    def results(self) -> list[ToolResult]:
        return self.main[-1].results_of_this_turn

    @property
    def used(self) -> list[str]:
        """Every tool call that the model made in the main conversation."""
        blocks = [block for event in self.events if _is_main(event) for block in event["message"]["content"]]
        return [_shown(block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]


@dataclass(frozen=True, slots=True)
class Client:
    """One person's client: a home folder, the plugin read from `plugin` or installed, and where programs are found."""

    program: str
    home: Path
    plugin: Path | None = ROOT
    path: tuple[str, ...] = (str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin")

    @property
    def surroundings(self) -> dict[str, str]:
        """No variable of this machine comes through but the Python that runs the tests, which has the packages."""
        kept = self.home / "tmp"
        kept.mkdir(parents=True, exist_ok=True)
        (self.home / ".claude").mkdir(exist_ok=True)
        configuration = str(self.home / ".claude")
        people = {"HOME": str(self.home), "CLAUDE_CONFIG_DIR": configuration, "LANG": "C.UTF-8", "SHELL": "/bin/bash"}
        places = {"TMPDIR": str(kept), "CLAUDE_CODE_TMPDIR": str(kept), "TERM": "dumb"}
        service = {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": NOWHERE, "CLAUDE_CODE_MAX_RETRIES": "0"}
        return {"PATH": os.pathsep.join(self.path), **people, **places, **service, **dict.fromkeys(_SWITCHED_ON, "1")}

    def ask(self, prompt: str, reply: Reply, *flags: str, folder: Path) -> Turn:
        """Type one prompt in `folder`, in the default permission mode, and wait for the end of the turn."""
        plugin = ["--plugin-dir", str(self.plugin)] if self.plugin else []
        command = [self.program, "-p", prompt, *plugin, *flags, "--output-format", "stream-json", "--verbose"]
        with StubApi(reply) as stub:
            code, out, errors = _run(command, folder, self.surroundings | {"ANTHROPIC_BASE_URL": stub.url})
        assert stub.others == [], "the client asked for something else than the model"
        events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        return Turn(code, events, errors, stub.calls)

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A `claude plugin` command; it must end well."""
        code, out, errors = _run([self.program, "plugin", *arguments], self.home, self.surroundings)
        assert code == 0, out + errors
        return subprocess.CompletedProcess(arguments, code, out, errors)

    def script(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One of our scripts, run by hand in this person's home."""
        command = [sys.executable, str(ROOT / "scripts" / name), *arguments]
        return subprocess.run(command, env=self.surroundings, capture_output=True, text=True, encoding="utf-8", check=False)


def model(*steps: Step, agent: Sequence[Step] = ()) -> Reply:
    """Plays the model: one step a request, then "Done."; `agent` are the steps of each agent in the same way."""

    def reply(request: Request) -> list[Block]:
        mine = agent if request.is_agent else steps
        done = len(request.results if request.is_agent else request.results_of_this_turn)
        step = mine[done] if done < len(mine) else text("Done.")
        answer = step(request) if callable(step) else step
        return answer if isinstance(answer, list) else [answer]

    return reply


def command_line(request: Request, *words: str, **places: str) -> str:
    """The command line of the skill's body, as the client expanded it, that holds all `words`; its places filled in.

    The shortest one where several hold them; `VAULT="a b"` takes the place of `'VAULT'`, quoted as the skill says.
    """
    lines = [line.strip() for line in request.user_text.splitlines() if line.startswith("    ") and "python3 " in line]
    fitting = [line for line in lines if all(word in line for word in [*words, *(f"'{place}'" for place in places)])]
    line = min(fitting, key=len)
    for place, value in places.items():
        line = line.replace(f"'{place}'", quoted(value))
    assert re.search(r"'[A-Z]+'", line) is None, line
    return line


def run_line(*words: str, **places: str) -> Step:
    """The model runs that command line, as the skill says."""
    return lambda request: tool("Bash", command=command_line(request, *words, **places), description="as the skill says")


def call_agent(name: str, prompt: str, description: str = "look") -> Block:
    """The model calls an agent of the plugin and waits for its answer, as the skills say."""
    return tool("Agent", description=description, prompt=prompt, subagent_type=f"vault-eval:{name}", run_in_background=False)


def quoted(value: str) -> str:
    """As the skills say: single quotes, with one inside written `'\\''`."""
    return "'" + value.replace("'", "'\\''") + "'"


def field(request: Request, start: str) -> str:
    """The rest of the last line that begins with `start`, in what the person's side of the conversation says."""
    return re.findall(rf"^{re.escape(start)}(.*)$", request.user_text, re.MULTILINE)[-1]


def _run(command: Sequence[str], folder: Path, surroundings: Mapping[str, str]) -> tuple[int, str, str]:
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=surroundings,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, errors = process.communicate(timeout=TURN_MAX_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)  # its own group, made above
        out, errors = process.communicate()
        errors += f"\nno end after {TURN_MAX_SECONDS} seconds"
    return process.returncode, out, errors


def _is_main(event: dict[str, object]) -> bool:
    return event["type"] == "assistant" and event.get("parent_tool_use_id") is None


def _shown(name: str, given: Mapping[str, object]) -> str:
    if name == "Bash":
        return str(given["command"])
    if name == "Agent":
        return f"Agent {given['subagent_type']}"
    return f"{name} {given.get('file_path') or given.get('path')}"
