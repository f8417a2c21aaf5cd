"""Labels: judged queries, from the files and notes that people keep them in to one `LabelSet`."""

from __future__ import annotations

from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.property import gather_answers
from vault_eval.labels.write import native_json

__all__ = ["LabelDocument", "gather_answers", "load_labels", "native_json"]
