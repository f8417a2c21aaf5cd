"""What one query term does for the score of one chunk."""

from __future__ import annotations

from typing import NamedTuple


class TermEvidence(NamedTuple):
    """One query term against one chunk: how many chunks of the index hold it, its frequency there, what it adds.

    `contribution` is idf * tf_part * length_part: how rare the term is, what its frequency makes of that in a chunk of mean
    length, and how the chunk's own length changes it (below 1 for a long chunk). The parts are None where they are not told.
    """

    term: str
    df: int
    tf: int
    contribution: float
    idf: float | None = None
    tf_part: float | None = None
    length_part: float | None = None

    def as_json(self) -> dict[str, str | int | float]:
        """The form in reports and in `retrieve --explain`."""
        parts = {"idf": self.idf, "tf_part": self.tf_part, "length_part": self.length_part}
        told = {name: part for name, part in parts.items() if part is not None}
        return {"term": self.term, "df": self.df, "tf": self.tf, **told, "contribution": self.contribution}
