"""The JSON of a saved report, before anything in it is taken for true."""

from __future__ import annotations

from vault_eval import strict_json
from vault_eval.errors import UsageError
from vault_eval.json_node import Node

_ADVICE = "this is no report as we write it: name an unchanged one, or measure again"


def parsed(data: bytes, file: str) -> Node:
    """The top of the JSON document in the bytes of `file`. Raises UsageError where they hold none."""
    try:
        return Node(strict_json.loads(data.decode("utf-8")), file, _ADVICE)
    except ValueError as error:
        line = error.line if isinstance(error, strict_json.StrictJsonError) else None
        found = f"{error}" if line is None else f"line {line:,}: {error}"
        raise UsageError(f"{file!r} is no saved report: {found}; name a report.json") from None
