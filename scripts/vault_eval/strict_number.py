"""A number that a person wrote, one grammar for every option and setting."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def number_of(text: str) -> float | None:
    """A number written in ASCII digits with at most one point and an exponent, or None for any other text."""
    return float(text) if _NUMBER.fullmatch(text) else None
