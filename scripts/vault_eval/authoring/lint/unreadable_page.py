"""Gold that is searched and cannot be: no permission, no text, broken."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.vault.paths import quoted

NAME = "expected page not readable"
ADVICE = "no search finds anything in it, and the query counts as missed: make it readable, or name another page"


def find(checked: Checked) -> Iterator[Finding]:
    """Each gold page in which nothing can be found, with the reason; those out of scope aside."""
    in_scope = frozenset(checked.vault.names)
    for label in checked.scored:
        for page in label.pages:
            reason = checked.places.unreadable(page) if page in in_scope else None
            if reason is not None:
                yield Finding(f"{quoted(page)}: {reason}", (label.id,), (page,))
