"""Queries that are the name of a page they expect: any search finds those."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.diagnosis.label_findings import normalised
from vault_eval.vault.paths import quoted

NAME = "query equals a title"
ADVICE = "any search finds it: ask in the words you had before you knew the name"


def find(checked: Checked) -> Iterator[Finding]:
    """Each label whose query is the file name, title or alias of a gold page, but for letter case and punctuation."""
    for label in checked.scored:
        query = normalised(label.query)
        for page in label.pages if query.strip() else ():
            if query in map(normalised, _names(checked, page)):
                yield Finding(f"{quoted(label.query)} is what {quoted(page)} is called", (label.id,), (page,))


def _names(checked: Checked, page: str) -> Iterator[str]:
    yield page.rpartition("/")[2].rpartition(".")[0]
    note = checked.note(page)
    if note is not None:
        yield from filter(None, (note.title, *note.aliases))
