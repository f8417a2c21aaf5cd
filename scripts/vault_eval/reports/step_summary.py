"""What CI shows of a run at a glance: gates, headline and what changed, in a few lines of Markdown that quote no note."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence

from vault_eval import strict_json
from vault_eval.atomic_file import PRIVATE_FILE, write_atomically
from vault_eval.comparison.gates import GateResult, Outcome
from vault_eval.comparison.records import Comparison
from vault_eval.errors import UsageError
from vault_eval.limits import STEP_SUMMARY_MAX_BYTES
from vault_eval.reports import comparison_findings, comparison_sentences, findings
from vault_eval.reports.document import Report
from vault_eval.reports.escaping import for_markdown
from vault_eval.reports.findings import HEADLINE_METRICS
from vault_eval.reports.markdown_table import markdown_table
from vault_eval.reports.save import check_kind
from vault_eval.reports.wording import metric_label

OUTCOMES: dict[Outcome, str] = {"passed": "✅ passed", "failed": "❌ failed", "undecided": "⚠️ undecided"}
IDS_SHOWN_MAX = 20


def step_summary(report: Report, results: Sequence[GateResult], comparisons: Sequence[Comparison] = ()) -> str:
    """Gates, the headline of each run and each comparison with a baseline, as Markdown ended by LF. Ids, no text of a note."""
    lines = [f"## Search in {for_markdown(report.vault_name)}", ""]
    if results:
        rows = [(OUTCOMES[one.outcome], for_markdown(one.gate), for_markdown(one.detail)) for one in results]
        lines += [*markdown_table(["outcome", "gate", "found"], rows, words=2), ""]
    lines += [*_headline(report), ""]
    for comparison in comparisons:
        lines += [*_comparison(comparison), ""]
    return "\n".join(lines)


def append_summary(path: str, text: str, option: str) -> None:
    """Add `text` at the end of the file `path`, which is made where it is missing, in one step: all of it or nothing.

    Messages name the `option` that the path came from.

    Raises UnsafePathError for a link or a folder, UsageError where what is there cannot be read, or would grow beyond what
    GitHub shows; VaultEvalError where it cannot be written.
    """
    check_kind(path, option)
    before, mode = b"", PRIVATE_FILE
    try:
        with open(path, "rb") as file:
            before = file.read(STEP_SUMMARY_MAX_BYTES + 1)
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)  # who may read it is not ours to change
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise UsageError(f"{option} {path!r} cannot be read: {error}; name a file") from None
    after = before + (b"\n" if before and not before.endswith(b"\n") else b"") + strict_json.encode(text)
    if len(after) > STEP_SUMMARY_MAX_BYTES:
        raise UsageError(f"{option} {path!r} would be larger than {STEP_SUMMARY_MAX_BYTES:,} bytes; name another file")
    write_atomically(path, [after], mode)


def _headline(report: Report) -> Iterator[str]:
    rows = []
    for run in report.runs:
        shown = findings.headline(run)[: len(HEADLINE_METRICS)]
        cells = (f"{one.value} ({one.interval})" for one in shown)
        rows.append((for_markdown(run.retriever.name), *cells, shown[0].n))
    yield from markdown_table(["run", *(f"{metric_label(name)} (95 % interval)" for name in HEADLINE_METRICS), "n"], rows)


def _comparison(comparison: Comparison) -> Iterator[str]:
    name = for_markdown(comparison.candidate.name)
    yield f"**{name} against the baseline: {comparison.verdict.word}**"
    effect = comparison_sentences.effect(comparison)
    sentences = (*comparison_sentences.warnings(comparison), *([effect] if effect else []), *_changed(comparison))
    yield from ("", *(f"- {for_markdown(sentence)}" for sentence in sentences))


def _changed(comparison: Comparison) -> Iterator[str]:
    for outcome, title in comparison_findings.OUTCOME_TITLES.items():
        changes = comparison_findings.by_size(comparison, outcome)
        if changes:
            shown = ", ".join(f"{one.id} ({comparison_findings.ranks_text(one)})" for one in changes[:IDS_SHOWN_MAX])
            rest = len(changes) - IDS_SHOWN_MAX
            yield f"{title.lower()} ({len(changes):,}): {shown}" + (f" and {rest:,} more" if rest > 0 else "")
