"""The trend as one HTML file: a chart a configuration, no network, no script."""

from __future__ import annotations

from vault_eval.reports import comparison_plots, wording
from vault_eval.reports.history import History
from vault_eval.reports.html_page import page_template

TEMPLATE = "history.html.jinja"
STYLE = "comparison.css"


def history_html(history: History) -> str:
    """The trend as an HTML document ended by LF. Raises MissingPackageError where jinja2 is not installed."""
    series = [(one, comparison_plots.trend(one)) for one in history.series]
    return (
        page_template(TEMPLATE, style=STYLE).render(
            history=history,
            metric=wording.metric_label(history.metric),
            series=series,
            plot=comparison_plots,
            words=wording,
        )
        + "\n"
    )
