"""Pages among the notes that belong to the measurement: saved reports quote the queries, the shipped example is nobody's note."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.vault.paths import quoted

NAME = "page of the measurement among the notes"
ADVICE = "move it out of the vault, or exclude it"


def find(checked: Checked) -> Iterator[Finding]:
    """Each such page."""
    for one in checked.of("saved_report", "fixture_file"):
        what = "a saved report" if one.kind == "saved_report" else "of the shipped example"
        yield Finding(f"{quoted(one.page)} is {what}", (), (one.page,))
