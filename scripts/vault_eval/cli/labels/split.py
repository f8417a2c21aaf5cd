"""`labels split`: part the labels of a file into dev, to tune on, and holdout, to look at once."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from vault_eval import launcher
from vault_eval.authoring.changes import change_of
from vault_eval.authoring.ledger import looks, worn_sentence
from vault_eval.authoring.splitting import assigned, with_splits
from vault_eval.cli.arguments import Parser, whole_number
from vault_eval.cli.labels.changing import add_format, add_write, open_label_vault, print_labels, show_and_write
from vault_eval.cli.printing import print_list
from vault_eval.data_folder import DataFolder
from vault_eval.errors import UsageError
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.sources import NOTE_PREFIX, PROPERTY_PREFIX
from vault_eval.limits import LABEL_FILE_MAX_BYTES
from vault_eval.model import Label
from vault_eval.reports.escaping import for_terminal
from vault_eval.vault.location import vault_id, vault_root
from vault_eval.vault.reader import read_outside

_DEFAULT_SHARE = "0.5"
_LOOKS_SHOWN_MAX = 10


def run(argv: list[str]) -> int:
    """The exit code of `labels split` with these arguments."""
    options = parser().parse_args(argv)
    source = _source(options)
    if source.startswith((NOTE_PREFIX, PROPERTY_PREFIX)):
        problem = "splits are written into JSON label files; make one of these labels with labels export --to native"
        raise UsageError(f"--queries {source!r}: {problem}")
    document = LabelDocument(source, read_outside(source, LABEL_FILE_MAX_BYTES), None, list)
    labels = load_labels([document]).labels
    splits = assigned(labels, options.holdout, options.seed)
    data = with_splits(document, splits)
    parted = [replace(label, split=splits.get(label.id, label.split)) for label in labels]
    as_json = options.format == "json"
    if as_json:
        print_labels(parted)
    else:
        print("\n".join(_table(parted, splits)))
    if data != document.data:
        show_and_write([change_of(document, "", data)], write=options.write, beside_json=as_json)
    if options.vault is not None and not as_json:
        _print_looks(DataFolder(launcher.data_folder(options.data)), vault_id(vault_root(options.vault)))
    if not as_json:
        print("Measure with --split dev while you tune: bench without --split looks at the holdout too, which wears it.")
    return 0


def parser() -> Parser:
    """The options of `labels split`."""
    made = Parser("labels split", "Part the labels of a JSON file into dev and holdout; labels that are parted stay as they are.")
    add = made.add_argument
    add("--queries", metavar="FILE", help="the label file (default: that of the vault)")
    add("--holdout", metavar="SHARE", type=_share, default=_DEFAULT_SHARE, help=f"between 0 and 1 (default {_DEFAULT_SHARE})")
    add("--seed", metavar="N", type=whole_number, default=0, help="another one parts otherwise (default 0)")
    add("--vault", metavar="DIR", help="the vault: finds its label file, and says who looked at its holdout")
    add_format(made)
    add_write(made)
    return made


def _source(options: argparse.Namespace) -> str:
    if options.queries is not None:
        return str(options.queries)
    if options.vault is None:
        raise UsageError("name the label file with --queries, or the vault whose label file it is with --vault")
    with open_label_vault(options.vault, options.data) as opened:
        return opened.one_source(None)


def _share(text: str) -> Fraction:
    try:
        share = Fraction(text) if text.isascii() else Fraction(0)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed are numbers between 0 and 1, such as 0.5")
    return share


def _print_looks(data: DataFolder, vault: str) -> None:
    """How often the holdout of a vault was looked at, then each look with what was measured and why, the last one first."""
    found = looks(data, vault)
    print(for_terminal(worn_sentence(found)))
    shown = found[: -_LOOKS_SHOWN_MAX - 1 : -1]
    lines = [f"  {one.when[:10]}, {', '.join(one.configurations)}: {one.why or 'no reason was given'}" for one in shown]
    rest = len(found) - len(shown)
    lines += [f"  … and {rest:,} more, all in {data.holdout_ledger(vault)}"] if rest else []
    print_list(map(for_terminal, lines), f"all are in {for_terminal(data.holdout_ledger(vault))}")


def _table(labels: Sequence[Label], splits: Mapping[str, str]) -> Iterator[str]:
    """Of each category how many are dev and holdout, and how many of them only now."""
    counts = Counter((label.category or "(none)", label.split) for label in labels)
    width = max(len(name) for name, _ in counts)
    yield f"{'':{width}}  dev  holdout"
    for name in sorted({name for name, _ in counts}):
        yield f"{for_terminal(name):{width}}  {counts[name, 'dev']:>3}  {counts[name, 'holdout']:>7}"
    total = Counter(label.split for label in labels)
    yield f"{'all':{width}}  {total['dev']:>3}  {total['holdout']:>7}"
    yield f"Labels that get a split: {len(splits):,}; that had one and keep it: {len(labels) - len(splits):,}"
