"""Dev and holdout: the same labels are parted the same way on every machine, each category in the same proportion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from math import ceil, floor

from vault_eval.authoring import json_edit
from vault_eval.authoring.label_files import label_format, schema_insert, without_place
from vault_eval.digests import sha256_hex
from vault_eval.errors import LabelError
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.rules import EXTENDED_SCHEMA
from vault_eval.model import Label


def assigned(labels: Sequence[Label], holdout: Fraction, seed: int) -> dict[str, str]:
    """The split of each label that has none yet, by id. Whoever has one keeps it: moving it would show the holdout to dev.

    Controlled rounding by largest remainders (Cox 1987): of its n labels a stratum holds out `n * holdout` rounded down, or one
    label more while all together lack it, the largest remainder first. In a stratum and between equal remainders the digest of
    seed and id decides. So of a set that is parted at once each stratum has its share to within one label, and all together
    have theirs, rounded down. In a set that grows, each stratum still has its share to within one label; all together may be off
    by more, by less than one label a stratum, since no label changes sides.
    """
    ordered = sorted(labels, key=lambda label: (_stratum(label), _digest(label, seed)))
    strata = [_Stratum(tuple(group), holdout) for _, group in groupby(ordered, _stratum)]
    lacking = floor(len(labels) * holdout) - sum(stratum.held + stratum.fewest for stratum in strata)
    able = [stratum for stratum in strata if stratum.takes_one_more]
    more = sorted(able, key=lambda stratum: (-stratum.remainder, _digest(stratum.new[0], seed)))[: max(lacking, 0)]
    return {
        label.id: "holdout" if number < stratum.fewest + (stratum in more) else "dev"
        for stratum in strata
        for number, label in enumerate(stratum.new)
    }


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


@dataclass(frozen=True, eq=False)
class _Stratum:
    """The labels of one category, with gold or without, and the share of them that is to be held out."""

    labels: tuple[Label, ...]
    share: Fraction

    @cached_property
    def new(self) -> tuple[Label, ...]:
        """Those that have no split."""
        return tuple(label for label in self.labels if label.split is None)

    @cached_property
    def held(self) -> int:
        """How many are held out already."""
        return sum(label.split == "holdout" for label in self.labels)

    @property
    def fewest(self) -> int:
        """How many of the new ones are held out at least: with them the share, rounded down."""
        return min(max(floor(len(self.labels) * self.share) - self.held, 0), len(self.new))

    @property
    def takes_one_more(self) -> bool:
        """Whether the share, rounded up, takes one new label more."""
        return self.held + self.fewest < ceil(len(self.labels) * self.share) and self.fewest < len(self.new)

    @property
    def remainder(self) -> Fraction:
        """What rounding down takes from the share."""
        return len(self.labels) * self.share % 1


def _stratum(label: Label) -> tuple[str, bool, bool]:
    return (label.category or "", not label.gold, label.skip_reason is not None)


def _digest(label: Label, seed: int) -> str:
    return sha256_hex(f"{seed}:{label.id}".encode())
