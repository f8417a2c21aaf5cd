"""What goes out on stdout and stderr: files for programs whatever the console's encoding, lists no longer than are read."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable

from vault_eval import strict_json
from vault_eval.limits import TERMINAL_TEXT_MAX_CHARACTERS

# A list may take half of what a terminal, or an agent that reads it, is shown.
_LIST_MAX_CHARACTERS = TERMINAL_TEXT_MAX_CHARACTERS // 2
_LINE_MAX_CHARACTERS = 400


def print_json(value: object, *, spread: int) -> None:
    """One JSON document, ended by LF: in the letters of its text on a UTF-8 stream, in ASCII with escapes elsewhere."""
    text = strict_json.dumps(value, spread=spread, ascii_only=not is_utf8())
    sys.stdout.write(strict_json.encode(text).decode("utf-8") + "\n")


def print_file(text: str) -> None:
    """The text of a file whose format is UTF-8 by definition: its bytes as `--out` would write them, whatever the console's
    encoding, which may lack its letters.
    """
    sys.stdout.flush()  # what was printed before stands before it
    sys.stdout.buffer.write(strict_json.encode(text))


def say(line: str) -> None:
    """One line on stderr, without a character that a terminal would obey; where it cannot get out, the exit code says enough."""
    from vault_eval.reports.escaping import for_terminal

    line = for_terminal(line)
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def is_utf8() -> bool:
    """Whether stdout takes every letter."""
    return (sys.stdout.encoding or "").lower().replace("-", "").replace("_", "") == "utf8"


def print_list(lines: Iterable[str], rest: str) -> None:
    """Lines as far as they fit into half of what an agent is shown; then how many are left, and `rest`: where to find them."""
    printed = left = 0
    for line in lines:
        shown = line if len(line) <= _LINE_MAX_CHARACTERS else line[: _LINE_MAX_CHARACTERS - 1] + "…"
        if left or printed + len(shown) >= _LIST_MAX_CHARACTERS:
            left += 1
            continue
        printed += len(shown) + 1
        sys.stdout.write(shown + "\n")
    if left:
        sys.stdout.write(f"  … and {left:,} more; {rest}\n")
