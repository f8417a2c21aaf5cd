"""Looks at the holdout: written down by every command that measures it, and said aloud when it was looked at too often."""

from __future__ import annotations

from datetime import datetime, timezone

from vault_eval.cli.printing import say
from vault_eval.data_folder import DataFolder
from vault_eval.digests import sha256_of_lines
from vault_eval.reports.document import Report


def note_look(report: Report, why: str, data: DataFolder, vault: str) -> None:
    """Keep in mind that the holdout was looked at, and say so; nothing where none of its queries was asked."""
    if not any(row.split == "holdout" and row.is_answered for row in report.runs[0].rows):
        return
    from vault_eval.authoring.ledger import looks, record_look, worn_sentence

    sources = [source.sha256 for source in report.label_sources]
    labels = sources[0] if len(sources) == 1 else sha256_of_lines(sources)
    record_look(data, vault, labels, [run.retriever.name for run in report.runs], why, started(report))
    among = (
        "" if report.split == "holdout" else "the holdout is among what was measured; --split dev leaves it out while you tune. "
    )
    say(f"vault-eval: {among}{worn_sentence(looks(data, vault, labels))}")


def started(report: Report) -> datetime:
    """When the report's measuring began."""
    return datetime.strptime(report.timing.started, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
