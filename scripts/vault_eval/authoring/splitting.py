"""Dev and holdout: the same labels are parted the same way on every machine, each category in the same proportion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from math import floor

from vault_eval.authoring import json_edit
from vault_eval.authoring.label_files import label_format, schema_insert, without_place
from vault_eval.digests import sha256_hex
from vault_eval.errors import LabelError
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.rules import EXTENDED_SCHEMA
from vault_eval.model import Label


def assigned(labels: Sequence[Label], holdout: Fraction, seed: int) -> dict[str, str]:
    """The split of each label that has none yet, by id. Whoever has one keeps it: moving it would show the holdout to dev.

    Systematic sampling (Madow 1944): in order of category, of negatives last and of the digest of seed and id, every label
    at which the running share passes a whole number is holdout. So each stratum, and all together, has its share to within
    one label. In a stratum the labels that have a split come first, and the new ones make up for what those lack or exceed:
    a set that grows by one label at a time is parted as one that was written at once.
    """
    ordered = sorted(labels, key=lambda label: (*_stratum(label), label.split is None, _digest(label, seed)))
    splits: dict[str, str] = {}
    number = 0
    for _, stratum in groupby(ordered, _stratum):
        held = floor(number * holdout)
        for label in stratum:
            number += 1
            split = label.split or ("holdout" if held < floor(number * holdout) else "dev")
            held += split == "holdout"
            if label.split is None:
                splits[label.id] = split
    return splits


def with_splits(document: LabelDocument, splits: Mapping[str, str]) -> bytes:
    """The bytes of a native JSON label file with `split` written into these labels; everything else in it stays.

    Raises LabelError for a file of another format, or one that is not valid.
    """
    labels = load_labels([document]).labels
    if label_format(document) != "native":
        problem = "splits are written into JSON label files"
        raise LabelError(f"{document.name}: {problem}; write the labels as JSON with the schema {EXTENDED_SCHEMA!r} first")
    text = document.data.decode("utf-8")
    top = json_edit.members(text, json_edit.top(text))
    entries = json_edit.items(text, top["queries"].start)
    inserts = [
        json_edit.one_key_more(text, entry, "split", splits[label.id])
        for label, entry in zip(labels, entries, strict=True)
        if label.id in splits
    ]
    data = json_edit.applied(text, [*inserts, *([schema_insert(top)] if inserts else [])]).encode("utf-8")
    wanted = [without_place(replace(label, split=splits.get(label.id, label.split))) for label in labels]
    if list(map(without_place, load_labels([replace(document, data=data)]).labels)) != wanted:
        raise LabelError(f"{document.name}: the splits cannot be written without changing more; write them in by hand")
    return data


def _stratum(label: Label) -> tuple[str, bool, bool]:
    return (label.category or "", not label.gold, label.skip_reason is not None)


def _digest(label: Label, seed: int) -> str:
    return sha256_hex(f"{seed}:{label.id}".encode())
