"""Queries that stand word for word in a page they expect."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.vault.paths import quoted

NAME = "query stands in the page"
ADVICE = "any search finds it: ask in other words than the note"


def find(checked: Checked) -> Iterator[Finding]:
    """Each label whose whole query is in the text or the properties of a gold page, the label property aside."""
    for one in checked.of("query_in_text", "query_in_properties"):
        where = "text" if one.kind == "query_in_text" else "properties"
        yield Finding(f"word for word in the {where} of {quoted(one.page)}", (one.query,) if one.query else (), (one.page,))
