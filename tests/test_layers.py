"""The shape of the package, held by reading its source: layers, and who may touch processes, the network, YAML and notes.

`make layers` checks the same layers through import-linter; this needs pytest alone.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
PACKAGE = SCRIPTS / "vault_eval"

# Top to bottom; a module imports only from rows below its own. In the last row the three may import each other.
LAYERS = (
    "cli",
    "authoring | fixture_mode",
    "evaluation | variants",
    "inputs",
    "searchers",
    "request",
    "reports",
    "diagnosis | comparison",
    "rankings",
    "retrievers",
    "command_lines",
    "index | interop",
    "labels",
    "vault",
    "metrics | significance",
    "model | data_folder | json_node",
    "strict_json | strict_number | digests | atomic_file | nearest",
    "limits : errors : launcher",
)

# `urllib.parse` is text only: links are quoted with it.
OUTSIDE = {
    "anyio",
    "asyncio",
    "ftplib",
    "http",
    "mcp",
    "multiprocessing",
    "requests",
    "httpx",
    "smtplib",
    "socket",
    "ssl",
    "subprocess",
    "urllib",
}
OUTSIDE_TEXT_ONLY = {"urllib.parse", "http.HTTPStatus"}
STARTS_PROCESS = re.compile(r"os\.(exec\w+|fork|forkpty|popen|posix_spawnp?|spawn\w+|startfile|system)")
MAY_REACH_OUTSIDE = (
    "index.pdf_text",
    "launcher.build",
    "launcher.environment",
    "launcher.encoding",
    "rankings.cold",
    "retrievers.bounded_http",
    "retrievers.bounded_process",
    "retrievers.mcp_server",
)

# Which packages have one door, and which module is the door.
DOORS = {
    "frontmatter": "vault.note",
    "yaml": "vault.note",
    "markdown_it": "index.markdown_blocks",
    "pypdf": "index.pdf_text",
    "numpy": "index.vectors.dense",
    "model2vec": "retrievers.embeddings.model2vec",
    "wordllama": "retrievers.embeddings.wordllama",
    "mcp": "retrievers.mcp_server",
}

# In these packages nothing but `vault.opening` and the writer opens a file; those above them read and write files that are ours.
OPENS_ONLY_THROUGH_THE_VAULT = (
    "vault",
    "labels",
    "interop",
    "metrics",
    "significance",
    "model",
    "strict_json",
    "digests",
    "limits",
    "errors",
)
OPENING, WRITER = "vault.opening", "vault.writer"
OPENS_FILE = re.compile(r"(open|io\.open|os\.open|.*\.(read_text|read_bytes|write_text|write_bytes))")


@dataclass(frozen=True)
class Import:
    name: str  # dotted, absolute: vault_eval.labels.load, os.path
    line: int


def imports(text: str, module: str, *, is_package: bool = False) -> list[Import]:
    """Every import statement in `text`, those inside functions too; `module` is dotted, below vault_eval."""
    found: list[Import] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = ["vault_eval", *module.split(".")]
                parents = parts[: len(parts) - node.level + is_package]
                base = ".".join([*parents, *([base] if base else [])])
            found += [Import(f"{base}.{alias.name}", node.lineno) for alias in node.names]
    return found


def calls(text: str) -> list[Import]:
    """Every call in `text` by the dotted name it is written with."""
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [Import(ast.unparse(node.func), node.lineno) for node in nodes if isinstance(node.func, (ast.Name, ast.Attribute))]


def faults(text: str, module: str, *, is_package: bool = False) -> list[str]:
    """What is wrong with one module, one sentence each."""
    found = imports(text, module, is_package=is_package)
    problems = [f"{module}:{place.line}: {problem}" for place in found for problem in _import_faults(module, place.name)]
    return problems + [
        f"{module}:{place.line}: {problem}" for place in calls(text) for problem in _call_faults(module, place.name)
    ]


def _import_faults(module: str, name: str) -> list[str]:
    problems = []
    top = name.split(".", maxsplit=1)[0]
    if name.startswith("vault_eval."):
        problem = _layer_fault(module.split(".", maxsplit=1)[0], name.split(".")[1])
        problems += [problem] if problem else []
    reaches = top in OUTSIDE and not any(f"{name}.".startswith(f"{text_only}.") for text_only in OUTSIDE_TEXT_ONLY)
    if reaches and not _is_within(module, MAY_REACH_OUTSIDE):
        problems.append(f"imports {name}; only {', '.join(MAY_REACH_OUTSIDE)} may start processes or reach a network")
    if top in DOORS and module != DOORS[top]:
        problems.append(f"imports {top}; only {DOORS[top]} may")
    return problems


def _call_faults(module: str, name: str) -> list[str]:
    problems = []
    if STARTS_PROCESS.fullmatch(name) and not _is_within(module, MAY_REACH_OUTSIDE):
        problems.append(f"calls {name}; only {', '.join(MAY_REACH_OUTSIDE)} may start processes")
    if OPENS_FILE.fullmatch(name) and _is_within(module, OPENS_ONLY_THROUGH_THE_VAULT) and module not in (OPENING, WRITER):
        problems.append(f"calls {name}; files of the vault and label files are opened by {OPENING} and {WRITER} alone")
    return problems


def _layer_fault(importer: str, imported: str) -> str:
    rows = {name: row for row, names in enumerate(LAYERS) for name in re.split(r" [|:] ", names)}
    if imported not in rows or importer not in rows:
        absent = imported if importer in rows else importer
        return "" if imported == "__version__" else f"{absent} has no row in LAYERS"
    above, below = rows[importer], rows[imported]
    siblings = above == below and (importer == imported or ":" in LAYERS[below])
    return "" if siblings or above < below else f"{importer} imports {imported}, which is not below it"


def _is_within(module: str, names: tuple[str, ...]) -> bool:
    return any(f"{module}.".startswith(f"{name}.") for name in names)


def _module_files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def _module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", _module_files(), ids=_module_name)
def test_module_keeps_to_its_layer_and_its_doors(path):
    assert faults(path.read_text(encoding="utf-8"), _module_name(path), is_package=path.name == "__init__.py") == []


def test_every_part_of_the_package_has_a_row():
    parts = {_module_name(path).split(".")[0] for path in _module_files()}
    assert parts <= {name for names in LAYERS for name in re.split(r" [|:] ", names)}


def test_import_linter_is_given_the_same_layers():
    tables = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    settings = tables.loads((SCRIPTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert tuple(settings["tool"]["importlinter"]["contracts"][0]["layers"]) == LAYERS


BAD = """\
import urllib.request
from vault_eval import cli
from vault_eval.reports.document import Report
from . import note
from ..labels import load

def late():
    from yaml import compose
    import subprocess
    os.execv("x", [])
    Path("Note.md").read_text()
    return open("Note.md")
"""


def test_a_bad_module_is_found_out():
    assert [problem.split(":", 2)[1] for problem in faults(BAD, "vault.walk")] == ["1", "2", "3", "5", "8", "9", "10", "11", "12"]


def test_a_good_module_is_let_be():
    good = (
        "import os.path\nfrom urllib.parse import quote\nfrom vault_eval import __version__\nfrom vault_eval.model import Label\n"
    )
    assert faults(good, "labels.load") == []
    assert faults("import frontmatter\nimport yaml\n", "vault.note") == []
    assert faults("import subprocess\n", "rankings.cold") == []


def test_relative_imports_are_made_absolute():
    assert imports("from . import note", "vault.walk")[0].name == "vault_eval.vault.note"
    assert imports("from . import note", "vault", is_package=True)[0].name == "vault_eval.vault.note"
    assert imports("from ..errors import UsageError", "vault.walk")[0].name == "vault_eval.errors.UsageError"


def test_siblings_do_not_import_each_other():
    assert faults("from vault_eval.significance import paired", "metrics.score") != []
    assert faults("from vault_eval.metrics import names", "metrics.score") == []


HEAVY = ("frontmatter", "yaml", "markdown_it", "rich", "jinja2")


@pytest.mark.parametrize("module", ["vault_eval.cli", "vault_eval.evaluation", "vault_eval.retrievers", "vault_eval.labels"])
def test_what_every_search_imports_needs_no_package(module):
    code = f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); import {module}; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


# What only other searchers, other labels, gates and variants need; the standard library's own among it is slow to import.
UNASKED = (
    *HEAVY,
    *("http", "socket", "ssl", "tempfile", "urllib.request", "xml"),
    *("difflib", "ipaddress", "pathlib", "subprocess", "urllib.parse"),
    *("numpy", "mcp", "anyio", "pypdf", "model2vec", "wordllama"),
    *("vault_eval.authoring", "vault_eval.interop", "vault_eval.index.build", "vault_eval.index.pdf_text"),
    *("vault_eval.index.vectors", "vault_eval.index.vault_meta.store", "vault_eval.variants"),
    *(
        f"vault_eval.retrievers.{name}"
        for name in ("claude_obsidian", "command", "http", "mcp", "run", "vector", "fused", "title")
    ),
    *("statistics", "vault_eval.comparison.compare", "vault_eval.reports.since_last", "vault_eval.reports.junit"),
    *("vault_eval.reports.step_summary", "vault_eval.reports.html_report", "vault_eval.reports.markdown_report"),
    *("vault_eval.reports.snippets", "vault_eval.comparison.records", "vault_eval.vault.note", "vault_eval.labels.property"),
)


def test_evaluation_of_keyword_with_json_labels_loads_nothing_that_was_not_asked_for(tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Tides.md").write_text("spring tides\n", encoding="utf-8")
    queries = '[{"id": "tides", "query": "tides", "expected_pages": ["Tides.md"]}]'
    labels = tmp_path / "labels.json"
    labels.write_text(f'{{"schema": "claude-obsidian.retrieval-queries.v1", "queries": {queries}}}', encoding="utf-8")
    places = ["--vault", str(tmp_path / "vault"), "--data", str(tmp_path / "data")]
    script = str(SCRIPTS / "vault-eval.py")
    subprocess.run([sys.executable, script, "index", *places], capture_output=True, check=True)
    asked = ["bench", *places, "--queries", str(labels), "--cold-samples", "0", "--out", str(tmp_path / "report.json")]
    code = (
        f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); from vault_eval.cli import main; "
        f"print(main({asked!r}, script={script!r}), *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {"vault_eval.cli.bench", "vault_eval.retrievers.keyword"} <= loaded
    assert sorted(loaded & set(UNASKED)) == []
