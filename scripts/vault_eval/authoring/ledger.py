"""Who looked at the holdout, when, and why: one line a look, only ever added to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from vault_eval import strict_json
from vault_eval.atomic_file import append_line
from vault_eval.data_folder import DataFolder
from vault_eval.errors import UsageError
from vault_eval.limits import HOLDOUT_LOOKS_MAX
from vault_eval.strict_json import JsonValue


@dataclass(frozen=True, slots=True)
class Look:
    """One measurement of the holdout: when in UTC (`2026-11-30T12:00:00Z`), on which labels, of what, and why."""

    when: str
    labels_sha256: str
    configurations: tuple[str, ...]
    why: str


def record_look(
    data: DataFolder, vault: str, labels_sha256: str, configurations: Sequence[str], why: str, when: datetime
) -> None:
    """Add one look to the ledger of a vault, whose id is given. Raises VaultEvalError where it cannot be written."""
    at = f"{when.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
    row = {"when": at, "labels_sha256": labels_sha256, "configurations": list(configurations), "why": why}
    append_line(data.holdout_ledger(vault), strict_json.encode(strict_json.dumps(row)))


def looks(data: DataFolder, vault: str, labels_sha256: str | None = None) -> tuple[Look, ...]:
    """All looks at the holdout of a vault in the order they were made, or those at one state of its labels.

    Raises UsageError for a ledger that cannot be read, naming the line.
    """
    path = data.holdout_ledger(vault)
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            lines = file.read().split("\n")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, str(error)) from None
    found = (_look(path, number, line) for number, line in enumerate(lines, start=1) if line)
    return tuple(look for look in found if labels_sha256 in (None, look.labels_sha256))


def worn_sentence(found: Sequence[Look]) -> str:
    """What to make of so many looks."""
    if not found:
        return "Nobody has looked at the holdout yet."
    times = "once" if len(found) == 1 else f"{len(found):,} times"
    last = f"last on {found[-1].when[:10]} with {', '.join(found[-1].configurations)}"
    if len(found) <= HOLDOUT_LOOKS_MAX:
        return f"The holdout was looked at {times}, {last}."
    return (
        f"The holdout is worn: it was looked at {times}, {last}. What is chosen by its figures has been tuned on it; "
        "write new labels for the next holdout."
    )


def _look(path: str, number: int, line: str) -> Look:
    try:
        row = strict_json.loads(line)
    except strict_json.StrictJsonError as error:
        raise _unreadable(path, f"line {number}: {error}") from None
    members = row if isinstance(row, dict) else {}
    when, sha256, why = (members.get(key) for key in ("when", "labels_sha256", "why"))
    names = _texts(members.get("configurations"))
    if not (isinstance(when, str) and isinstance(sha256, str) and isinstance(why, str)) or names is None:
        raise _unreadable(path, f"line {number} is no look at a holdout")
    return Look(when, sha256, names, why)


def _texts(value: JsonValue) -> tuple[str, ...] | None:
    texts = tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else None
    return texts if texts is not None and isinstance(value, list) and len(texts) == len(value) else None


def _unreadable(path: str, reason: str) -> UsageError:
    return UsageError(f"the ledger {path!r} cannot be read: {reason}; mend or remove the line")
