"""What a judge said of the items of a pool: one line a verdict, on disk before the next question is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from vault_eval import strict_json
from vault_eval.atomic_file import append_line
from vault_eval.errors import LabelError, UsageError
from vault_eval.json_node import Node

# "later" and "cannot tell" are no grades: a page nobody could judge is not a page that was judged irrelevant.
Verdict: TypeAlias = Literal["yes", "partly", "no", "later", "cannot tell"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
GRADES: Mapping[Verdict, int] = {"yes": 2, "partly": 1, "no": 0}
MEANING: Mapping[Verdict, str] = {
    "yes": "no other note is needed",
    "partly": "it answers a part, or leads to the answer",
    "no": "it does not help, though it shares the words",
}
_LOOKS = (1, 2)
_ADVICE = "this is no judgement of ours; remove the line, or the file to begin anew"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict on one item; `look` is 1, or 2 where it was shown again; `sha256` is that of the page's bytes as judged."""

    item: str
    look: int
    verdict: Verdict
    sha256: str | None

    def line(self) -> bytes:
        """Its line in the file, without the line end."""
        value = {"item": self.item, "look": self.look, "verdict": self.verdict, "sha256": self.sha256}
        return strict_json.encode(strict_json.dumps(value))


def append_judgement(path: str, judgement: Judgement) -> None:
    """Add one verdict to the file, flushed to disk. Raises VaultEvalError with the reason where it cannot be kept."""
    append_line(path, judgement.line())


def read_judgements(path: str) -> tuple[Judgement, ...]:
    """The last verdict on each look at each item, in the order of the first; none where there is no file.

    A line that a crash cut short is left out. Raises LabelError for a line that is none of ours.
    """
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise LabelError(f"the judgements {path!r} cannot be read: {error.strerror}") from None
    found: dict[tuple[str, int], Judgement] = {}
    for number, line in enumerate(lines, 1):
        if line:
            one = _judgement(line, f"{path!r}, line {number}")
            if one is not None:
                found[one.item, one.look] = one
    return tuple(found.values())


def verdicts(judgements: Sequence[Judgement], look: int = 1) -> dict[str, Judgement]:
    """Item -> what was said at that look."""
    return {one.item: one for one in judgements if one.look == look}


def _judgement(line: bytes, place: str) -> Judgement | None:
    try:
        found = Node(strict_json.loads(line.decode("utf-8")), place, _ADVICE)
    except ValueError:
        return None
    try:
        look = found["look"].whole()
        if look not in _LOOKS:
            raise found["look"].refused("1 or 2")
        return Judgement(found["item"].text(), look, found["verdict"].one_of(VERDICTS), found["sha256"].or_none(Node.text))
    except UsageError as error:
        raise LabelError(str(error)) from None
