"""Reports on disk: whole or absent, outside the vault, never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from vault_eval import strict_json
from vault_eval.atomic_file import make_private_folder, write_atomically
from vault_eval.errors import UnsafePathError, UsageError
from vault_eval.reports.document import Report
from vault_eval.reports.json_report import pages_text, report_text
from vault_eval.vault.location import refuse_inside_any_vault, refuse_inside_vault

if TYPE_CHECKING:
    from vault_eval.reports.snippets import Snippets

Rendering = Callable[[Report], str]
# What stands near the start of a file that may be replaced, by its suffix: anything else was made by somebody else.
Marks = Mapping[str, bytes]
REPORT_MARKS: Marks = {".json": b'"vault-eval.report.v1"', ".md": b"# Search in ", ".html": b"<title>Search in "}
COMPARISON_MARKS: Marks = {".json": b'"vault-eval.comparison', ".md": b"# Did it help", ".html": b"<title>Did it help"}
PAGES_MARKS: Marks = {".json": b'"vault-eval.pages.v1"'}
JUNIT_MARKS: Marks = {"": b'<testsuites name="vault-eval"'}  # whatever the suffix
_MARK_WITHIN_BYTES = 4_096
# Names that mean a file; a folder such as `runs.v2` has another suffix.
_OTHER_FORMATS = frozenset(
    (
        *(".csv", ".doc", ".docx", ".htm", ".jsonl", ".log", ".markdown", ".ods", ".odt", ".pdf", ".png", ".rtf", ".svg", ".tex"),
        *(".toml", ".tsv", ".txt", ".xhtml", ".xls", ".xlsx", ".xml", ".yaml", ".yml", ".zip"),
    )
)
# What a folder is given, by the name of the file.
_IN_FOLDER = {"pages.json": PAGES_MARKS, "report.md": REPORT_MARKS, "report.html": REPORT_MARKS, "report.json": REPORT_MARKS}


def save_report(report: Report, path: str, vault_root: str, snippets: Snippets | None = None) -> str:
    """Write the rendering that the suffix of `path` names, or into a folder all three and the page digests; returns the path.

    `snippets` are shown by the HTML alone. Raises UnsafePathError for a place inside a vault, a link, or something of the
    wrong kind; VaultEvalError where writing fails, which leaves the old file or the new one.
    """
    check_destination(path, vault_root)
    rendering = _rendering(path, snippets)
    if rendering is not None:
        save_text(path, rendering(report))
        return path
    make_private_folder(path)
    check_destination(path, vault_root)
    for name, render in (
        ("pages.json", pages_text),
        ("report.md", _markdown),
        ("report.html", _html_with(snippets)),
        ("report.json", report_text),
    ):
        place = os.path.join(path, name)
        check_kind(place, "--out")
        _write(place, render(report))
    return path


def save_to_history(report: Report, folder: str, started: datetime) -> str:
    """Write the report into a new folder named by UTC time below `folder`, readable by its owner alone; returns its path."""
    make_private_folder(folder)
    name = f"{started:%Y-%m-%dT%H-%M-%SZ}"
    for number in range(1, 1_000):
        place = os.path.join(folder, name if number == 1 else f"{name}-{number}")
        try:
            os.mkdir(place, 0o700)
            break
        except FileExistsError:
            continue
    # report.json last: a folder without it was broken off and is no report.
    for file, render in (("pages.json", pages_text), ("report.md", _markdown), ("report.json", report_text)):
        _write(os.path.join(place, file), render(report))
    return place


def save_text(path: str, text: str) -> None:
    """Write one file whole, in folders made for its owner alone. Raises VaultEvalError where it cannot be written."""
    make_private_folder(os.path.dirname(os.path.abspath(path)))
    _write(path, text)


def check_destination(path: str, vault_root: str) -> None:
    """Raises UnsafePathError where a report may not be written to `path`, and UsageError for a file of a format that is none of
    ours; called before anything is measured.
    """
    refuse_inside_vault(path, vault_root, "--out")
    refuse_inside_any_vault(path, "--out")
    _refuse_other_format(path)
    is_file = _rendering(path) is not None
    check_kind(path, "--out", is_file=is_file)
    places = {path: REPORT_MARKS} if is_file else {os.path.join(path, name): marks for name, marks in _IN_FOLDER.items()}
    for place, marks in places.items():
        check_ours(place, "--out", marks)


def _refuse_other_format(path: str) -> None:
    suffix = os.path.splitext(path)[1].lower()
    if suffix in _OTHER_FORMATS:
        allowed = "write NAME.json, NAME.md or NAME.html, or a folder, with a slash at the end where its name looks like a file's"
        raise UsageError(f"--out {path!r}: no report is written as {suffix}; {allowed}")


def check_ours(path: str, option: str, marks: Marks) -> None:
    """Raises UnsafePathError where a file that is not empty stands at `path` and was not written by us."""
    mark = marks.get(os.path.splitext(path)[1].lower(), marks.get(""))
    try:
        with open(path, "rb") as file:
            start = file.read(_MARK_WITHIN_BYTES)
    except (OSError, ValueError):  # absent, or of another kind, which `check_kind` tells
        return
    if start and mark is not None and mark not in start:
        raise UnsafePathError(f"{option} {path!r} was not written by this command; name another file, or remove that one")


def check_kind(path: str, option: str, *, is_file: bool = True) -> None:
    """Raises UnsafePathError where something of another kind, or a link, stands at `path`; `option` is named in the message."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise UnsafePathError(f"{option} {path!r} cannot be used: {error}; name another place") from None
    if stat.S_ISLNK(found.st_mode):
        raise UnsafePathError(f"{option} {path!r} is a link; name the file or folder itself, such as {os.path.realpath(path)!r}")
    if is_file and not stat.S_ISREG(found.st_mode):
        raise UnsafePathError(
            f"{option} {path!r} is not a regular file; name a file, or a folder without the suffix {os.path.splitext(path)[1]}"
        )
    if not is_file and not stat.S_ISDIR(found.st_mode):
        raise UnsafePathError(f"{option} {path!r} is a file; name one that ends in .json, .md or .html, or a folder")


def _rendering(path: str, snippets: Snippets | None = None) -> Rendering | None:
    """The one rendering that the suffix of a path names; None for a folder."""
    renderings: dict[str, Rendering] = {".json": report_text, ".md": _markdown, ".html": _html_with(snippets)}
    return renderings.get(os.path.splitext(path)[1].lower())


# What renders is loaded where it is asked for: most reports are saved as JSON alone.
def _markdown(report: Report) -> str:
    from vault_eval.reports.markdown_report import markdown_report

    return markdown_report(report)


def _html_with(snippets: Snippets | None) -> Rendering:
    def render(report: Report) -> str:
        from vault_eval.reports.html_report import html_report

        return html_report(report, snippets)

    return render


def _write(path: str, text: str) -> None:
    write_atomically(path, [strict_json.encode(text)])
