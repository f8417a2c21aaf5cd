"""The reports that evaluations have kept of one vault, found by the names of their folders alone."""

from __future__ import annotations

import os
import re

# As `save_to_history` names them: UTC time, and from the second within one second on, a number.
_KEPT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)(?:-(\d{1,3}))?")


def kept_reports(folder: str) -> tuple[str, ...]:
    """The folders of the kept reports, oldest first, none where nothing was kept; links and other names are not among them."""
    try:
        with os.scandir(folder) as entries:
            named = [(found, entry.path) for entry in entries if (found := _kept(entry)) is not None]
    except OSError:
        return ()
    return tuple(path for _, path in sorted(named))


def _kept(entry: os.DirEntry[str]) -> tuple[str, int] | None:
    found = _KEPT.fullmatch(entry.name)
    if found is None or not entry.is_dir(follow_symlinks=False):
        return None
    return found[1], int(found[2] or 1)
