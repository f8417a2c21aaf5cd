"""A lint of our own skills and agents: what the client accepts in silence and then does not do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SKILL_FILES = sorted((ROOT / "skills").glob("*/SKILL.md"))
AGENT_FILES = sorted((ROOT / "agents").glob("*.md"))
SKILLS = {path.parent.name for path in SKILL_FILES}
AGENTS = {path.stem for path in AGENT_FILES}

# What Claude Code 2.1.332 reads; other keys it drops without a word. In agents of a plugin it also drops
# permissionMode, hooks and mcpServers.
SKILL_KEYS = {
    *("name", "description", "when_to_use", "argument-hint", "arguments", "disable-model-invocation", "user-invocable"),
    *("allowed-tools", "disallowed-tools", "model", "effort", "context", "agent", "background", "hooks", "paths", "shell"),
    *("metadata", "license", "compatibility"),
}
AGENT_KEYS = {
    *("name", "description", "tools", "disallowedTools", "model", "effort", "maxTurns", "skills", "memory", "background"),
    *("isolation", "color"),
}
DESCRIPTION_MAX_CHARACTERS = 1_024
EXIT_CODES = {0, 1, 2, 3, 10, 70, 130}
# The client runs these in a skill's dynamic line without a rule, since they only look.
ONLY_LOOK = {"echo", "pwd", "realpath", "test", "true"}
COMMAND = re.compile(r"""python3 ["']?\$\{CLAUDE_PLUGIN_ROOT\}/scripts/[^\n`]*""")
DYNAMIC = re.compile(r"!`([^`\n]*)`")


@dataclass(frozen=True)
class Page:
    """A skill or agent as it stands in its file."""

    name: str
    head: dict[str, object]
    body: str

    @property
    def rules(self) -> list[str]:
        return list(self.head.get("allowed-tools", []))


def page(text: str, name: str) -> Page:
    """Raises ValueError where there is no frontmatter."""
    _, head, body = re.split(r"^---\n", text, maxsplit=2, flags=re.MULTILINE)
    return Page(name, yaml.safe_load(head), body)


def skill_faults(skill: Page) -> Iterator[str]:
    """What is wrong with a skill, one sentence each."""
    yield from head_faults(skill, SKILL_KEYS)
    yield from command_faults(skill)
    yield from dynamic_faults(skill)
    yield from agent_faults(skill)
    if "--data" in skill.body:
        yield "passes --data: plugin and shell use the same folder"
    codes = {int(code) for row in re.findall(r"^ *\| ([\d, ]+) \|", skill.body, re.MULTILINE) for code in row.split(",")}
    if codes != EXIT_CODES:
        yield f"explains the exit codes {sorted(codes)}, not {sorted(EXIT_CODES)}"


def head_faults(one: Page, known: set[str]) -> Iterator[str]:
    yield from (f"unknown key {key!r}" for key in one.head if key not in known)
    if one.head.get("name") != one.name:
        yield f"is called {one.head.get('name')!r}, its place {one.name!r}"
    description = one.head.get("description")
    if not isinstance(description, str) or len(description) > DESCRIPTION_MAX_CHARACTERS:
        yield f"the description is no text of at most {DESCRIPTION_MAX_CHARACTERS} characters"
    elif not re.search(r"\bUse (when|for)\b", description):
        yield "the description does not say when to use it"


def command_faults(skill: Page) -> Iterator[str]:
    for rule in skill.rules:
        other = rule.replace('"', "") if '"' in rule else re.sub(r"(\$\{CLAUDE_PLUGIN_ROOT\}\S*)", r'"\1"', rule)
        if rule.startswith("Bash(") and other not in skill.rules:
            yield f"{rule} stands without its twin {other}"
    for command in COMMAND.findall(skill.body):
        if not covered(command, skill.rules):
            yield f"no rule allows: {command}"


def covered(command: str, rules: list[str]) -> bool:
    """Whether a rule allows the command, letter by letter as the client compares them."""
    allowed = [rule[len("Bash(") : -len(" *)")] for rule in rules if rule.startswith("Bash(") and rule.endswith(" *)")]
    return any(command == start or command.startswith(f"{start} ") for start in allowed)


def dynamic_faults(skill: Page) -> Iterator[str]:
    for line in DYNAMIC.findall(skill.body):
        if re.search(r"\$(ARGUMENTS|\d|[a-z])", line):
            yield f"pastes an argument into a command: {line}"
        for command in re.split(r" *(?:;|&&|\|\|) *", line):
            if command.split()[0] not in ONLY_LOOK and not covered(command, skill.rules):
                yield f"no rule allows: {command}"
        if not re.search(r"(;|\|\|) true$", line):
            yield f"ends the whole skill where it fails: {line}"


def agent_faults(skill: Page) -> Iterator[str]:
    named = set(re.findall(r"(?<!/)\bvault-eval:([a-z-]+)", f"{skill.body}\n{skill.rules}"))
    yield from (f"there is no agent vault-eval:{name}" for name in sorted(named - AGENTS))
    yield from (
        f"there is no skill /vault-eval:{name}" for name in re.findall(r"/vault-eval:([a-z-]+)", skill.body) if name not in SKILLS
    )
    yield from (
        f"no rule allows Agent(vault-eval:{name})"
        for name in sorted(named & AGENTS)
        if f"Agent(vault-eval:{name})" not in skill.rules
    )
    if named and "run_in_background: false" not in skill.body:
        yield "does not wait for the agents"


@pytest.mark.parametrize("path", SKILL_FILES, ids=lambda path: path.parent.name)
def test_a_skill_has_no_fault(path):
    text = path.read_text(encoding="utf-8")
    skill = page(text, path.parent.name)
    assert list(skill_faults(skill)) == []
    # A rule a command makes the head long; what is read is the rest.
    assert 50 <= len(text.splitlines()) - len(skill.rules) <= 90


@pytest.mark.parametrize("path", AGENT_FILES, ids=lambda path: path.stem)
def test_an_agent_has_no_fault_and_can_only_read(path):
    agent = page(path.read_text(encoding="utf-8"), path.stem)
    assert list(head_faults(agent, AGENT_KEYS)) == []
    # With Bash among them the client would take Grep and Glob away.
    assert agent.head["tools"] == "Read, Grep, Glob"
    assert "data" in agent.body
    assert '"malformed"' in agent.body


GOOD = """\
---
name: good
description: Does it. Use when asked.
allowed-tools:
  - Bash(python3 "${CLAUDE_PLUGIN_ROOT}/scripts/vault-eval.py" report *)
  - Bash(python3 ${CLAUDE_PLUGIN_ROOT}/scripts/vault-eval.py report *)
  - Agent(vault-eval:miss-analyst)
---
Here: !`test -d .obsidian && realpath .; true`
Use vault-eval:miss-analyst with `run_in_background: false`.

    python3 "${CLAUDE_PLUGIN_ROOT}/scripts/vault-eval.py" report 'REPORT'

| 0 | 1 |
| 0, 1, 2, 3, 10, 70, 130 | so |
"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("name: good", "name: other", "is called 'other', its place 'good'"),
        ("name: good", "name: good\nallowed_tools: x", "unknown key 'allowed_tools'"),
        ("Use when asked", "For asking", "the description does not say when to use it"),
        ("Does it", "x" * 1_024, "the description is no text of at most 1024 characters"),
        (
            "vault-eval.py\" report '",
            "vault-eval.py\" index '",
            "no rule allows: python3 \"${CLAUDE_PLUGIN_ROOT}/scripts/vault-eval.py\" index 'REPORT'",
        ),
        (
            '"${CLAUDE_PLUGIN_ROOT}/scripts/vault-eval.py" report \'',
            "'${CLAUDE_PLUGIN_ROOT}/scripts/vault-eval.py' report '",
            "no rule allows: python3 '",
        ),
        ("  - Bash(python3 ${", "  - Bash(python3 -I ${", "stands without its twin"),
        ("realpath .;", "realpath $0;", "pastes an argument into a command"),
        ("realpath .;", "realpath $ARGUMENTS;", "pastes an argument into a command"),
        ("realpath .;", "touch x;", "no rule allows: touch x"),
        ("; true`", "`", "ends the whole skill where it fails"),
        ("Use vault-eval:miss-analyst", "Use vault-eval:miss-reader", "there is no agent vault-eval:miss-reader"),
        ("Use vault-eval:miss-analyst", "Use /vault-eval:explains", "there is no skill /vault-eval:explains"),
        ("  - Agent(vault-eval:miss-analyst)\n", "", "no rule allows Agent(vault-eval:miss-analyst)"),
        ("run_in_background: false", "wait", "does not wait for the agents"),
        ("report 'REPORT'", "report 'REPORT' --data x", "passes --data"),
        ("70, 130", "130", "explains the exit codes"),
    ],
)
def test_the_lint_finds_a_fault(old, new, fault):
    assert list(skill_faults(page(GOOD, "good"))) == []
    found = list(skill_faults(page(GOOD.replace(old, new), "good")))
    assert any(one.startswith(fault) or fault in one for one in found), found


def test_every_command_line_of_a_skill_is_one_that_the_program_takes():
    seen = set()
    for path in SKILL_FILES:
        body = page(path.read_text(encoding="utf-8"), path.parent.name).body
        for line in COMMAND.findall(DYNAMIC.sub("", body)):
            script, *words = shlex.split(line.partition("/scripts/")[2].partition(" > ")[0].replace('"', ""))
            name, *arguments = ["bench", *words] if script == "evaluate-retrieval.py" else words
            module, arguments = (f"labels.{arguments[0]}", arguments[1:]) if name == "labels" else (name, arguments)
            import_module(f"vault_eval.cli.{module}").parser().parse_args(arguments)
            seen.add(module)
    labels = {f"labels.{name}" for name in ("add", "agree", "check", "init", "judge", "pool", "split", "suggest")}
    assert seen == {"bench", "compare", "index", "report"} | labels


@pytest.mark.parametrize("path", sorted((ROOT / "skills").glob("*/references/*.md")), ids=lambda path: path.stem)
def test_a_reference_leaves_command_lines_and_places_to_its_skill(path):
    """The client replaces variables in a skill only, not in a file that the model reads."""
    assert "${" not in path.read_text(encoding="utf-8")


def test_no_label_command_that_writes_without_being_asked_runs_without_a_question_of_the_client():
    """`--out` of these replaces whatever file is there; a person may still allow them."""
    rules = page((ROOT / "skills/label/SKILL.md").read_text(encoding="utf-8"), "label").rules
    assert covered('python3 "${CLAUDE_PLUGIN_ROOT}/scripts/vault-eval.py" labels check', rules)
    for name in ("build", "export", "import"):
        assert not covered(f'python3 "${{CLAUDE_PLUGIN_ROOT}}/scripts/vault-eval.py" labels {name}', rules)


def test_every_reference_is_named_with_its_place_and_every_named_one_is_there():
    named = {
        name
        for path in SKILL_FILES
        for name in re.findall(r"\$\{CLAUDE_PLUGIN_ROOT\}/(skills/[\w/.-]+\.md)", path.read_text(encoding="utf-8"))
    }
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "skills").glob("*/references/*.md")}
    assert named == there
    for name in there:
        assert re.search(r"^Read this (when|before) ", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE), name


@pytest.mark.parametrize("name", ["evaluate", "explain"])
def test_a_skill_that_meets_reports_keeps_out_of_the_page_that_quotes_notes(name):
    assert "Never open a report.html" in (ROOT / "skills" / name / "SKILL.md").read_text(encoding="utf-8")


def test_agents_and_skills_never_write_and_skills_never_read_everything():
    rules = [rule for path in SKILL_FILES for rule in page(path.read_text(encoding="utf-8"), path.parent.name).rules]
    assert {rule.partition("(")[0] for rule in rules} == {"Bash", "Read", "Agent"}
    assert [rule for rule in rules if "(" not in rule] == []
