"""JSON on stdout that every reader takes, whatever the console's encoding."""

from __future__ import annotations

import sys

from vault_eval import strict_json


def print_json(value: object, *, spread: int) -> None:
    """One JSON document, ended by LF: in the letters of its text on a UTF-8 stream, in ASCII with escapes elsewhere."""
    text = strict_json.dumps(value, spread=spread, ascii_only=not is_utf8())
    sys.stdout.write(strict_json.encode(text).decode("utf-8") + "\n")


def is_utf8() -> bool:
    """Whether stdout takes every letter."""
    return (sys.stdout.encoding or "").lower().replace("-", "").replace("_", "") == "utf8"
