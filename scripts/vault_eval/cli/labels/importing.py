"""`labels import`: the label file of another tool, as labels of ours."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from types import ModuleType

from vault_eval import strict_json
from vault_eval.authoring.file_text import text_of
from vault_eval.cli.arguments import Parser
from vault_eval.cli.labels.changing import open_label_vault, print_labels, refuse_out_in_a_vault, write_new
from vault_eval.errors import UsageError
from vault_eval.interop import READS_LABELS, formats, trec
from vault_eval.interop.conversion import labels_of, with_texts
from vault_eval.interop.records import Topic
from vault_eval.interop.tokens import name_of
from vault_eval.interop.topics import read_topics
from vault_eval.labels.eligibility import settle
from vault_eval.labels.problems import Place, Problems
from vault_eval.labels.wikilinks import LinkResolver, PageNames
from vault_eval.labels.write import native_json
from vault_eval.limits import FOREIGN_FILE_MAX_BYTES, LABEL_FILE_MAX_BYTES, LABEL_PROBLEMS_SHOWN_MAX, LABEL_QUERIES_MAX
from vault_eval.model import Label, LabelSet, Target
from vault_eval.reports.escaping import for_terminal
from vault_eval.vault.note_text import decode_utf8
from vault_eval.vault.paths import quoted
from vault_eval.vault.reader import read_outside
from vault_eval.vault.snapshot import VaultSnapshot
from vault_eval.vault.targets import parse_target

_PART = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")
_AT_THE_TOP = ""


def run(argv: list[str]) -> int:
    """The exit code of `labels import` with these arguments."""
    options = parser().parse_args(argv)
    form = formats(READS_LABELS)[options.form]
    if options.vault is None and getattr(form, "NEEDS_VAULT", False):
        raise UsageError(f"--from {options.form} names files, not their paths; name the vault that holds them with --vault")
    problems = Problems()
    with ExitStack() as opened:
        vault = opened.enter_context(open_label_vault(options.vault, options.data)).vault if options.vault is not None else None
        refuse_out_in_a_vault(options.out, vault.root if vault is not None else None)
        topics = _part(_read(options, form, problems), options)
        labels = labels_of(topics, Place(problems, options.file), _resolver(vault))
        problems.raise_if_any()
        missing = _missing(labels, vault)
    _give(labels, options.out)
    for sentence in (*problems.warnings, *missing):
        print(f"vault-eval: {for_terminal(sentence)}", file=sys.stderr)
    return 0


def parser() -> Parser:
    """The options of `labels import`."""
    made = Parser("labels import", "Read labels of another tool and print them as a label file. What it loses is said on stderr.")
    add = made.add_argument
    add("file", metavar="FILE", help="the file, or the folder of a BEIR set")
    add("--from", dest="form", choices=list(formats(READS_LABELS)), required=True, help="whose format it is")
    add("--topics", metavar="FILE", help="the texts of the queries, lines 'ID TAB TEXT', where the format has none")
    add("--vault", metavar="DIR", help="look up names without a path in this vault, and say which pages it lacks")
    add("--literal", action="store_true", help="trec and --topics: take names as they stand, %%20 is no blank")
    add("--part", metavar="N/M", type=_part_of, help="only the Nth of M equal parts, for a set larger than a label file may be")
    add("--format", choices=["json"], default="json", help="the only one: labels are printed as a label file")
    add("--out", metavar="FILE", help="write the label file here instead of printing it")
    return made


def _part_of(text: str) -> tuple[int, int]:
    found = _PART.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is no part; write 1/2 for the first half, 2/2 for the second")
    return int(found[1]), int(found[2])


def _read(options: argparse.Namespace, form: ModuleType, problems: Problems) -> tuple[Topic, ...]:
    place = Place(problems, options.file)
    topics: tuple[Topic, ...]
    if hasattr(form, "read_folder"):
        topics = form.read_folder(_folder(options.file, form.is_read), place)
    else:
        literally = {"decode": str} if options.literal and form is trec else {}
        topics = form.read_labels(_text(options.file), place, **literally)
    if options.topics is not None:
        place = Place(problems, options.topics)
        topics = with_texts(topics, read_topics(_text(options.topics), place, str if options.literal else name_of), place)
    # Rows that could not be read would only be complained of again as what is absent.
    problems.raise_if_any()
    return topics


def _text(path: str) -> str:
    return text_of(path, read_outside(path, FOREIGN_FILE_MAX_BYTES), decode_utf8)


def _folder(path: str, is_read: Callable[[str], bool]) -> Mapping[str, str]:
    """The files of a folder and of the folders in it that a format asks for, by their relative paths."""
    if not os.path.isdir(path):
        raise UsageError(f"{path!r} is no folder; this format is a folder of files")
    try:
        inner = [name for name in os.listdir(path) if os.path.isdir(os.path.join(path, name))]
        below = [f"{name}/{each}" for name in inner for each in os.listdir(os.path.join(path, name))]
        names = filter(is_read, sorted((*os.listdir(path), *below)))
    except OSError as error:
        raise UsageError(f"{error.filename!r} cannot be listed: {error.strerror}") from None
    return {name: _text(os.path.join(path, name)) for name in names}


def _part(topics: Sequence[Topic], options: argparse.Namespace) -> Sequence[Topic]:
    if options.part is not None:
        number, parts = options.part
        return topics[(number - 1) * len(topics) // parts : number * len(topics) // parts]
    if len(topics) > LABEL_QUERIES_MAX:
        parts = -(-len(topics) // LABEL_QUERIES_MAX)
        problem = f"{options.file!r} holds {len(topics):,} queries; a label file has at most {LABEL_QUERIES_MAX:,}"
        raise UsageError(f"{problem}: add --part 1/{parts}, then --part 2/{parts}, for a file each")
    return topics


def _resolver(vault: VaultSnapshot | None) -> Callable[[str], Target]:
    return parse_target if vault is None else LinkResolver(PageNames(lambda: vault.names), _AT_THE_TOP).target


def _missing(labels: Sequence[Label], vault: VaultSnapshot | None) -> list[str]:
    """A sentence for each query whose pages the vault lacks, with what they may have become."""
    if vault is None:
        return []
    settled = settle(labels, vault.listing, vault.reader, None, None, lambda _: None)
    sentences = [
        f"query {quoted(one.label.id)}: {quoted(page)}: {why}; the query will be left out as missing gold"
        for one in settled
        for page, why in one.missing.items()
    ]
    rest = len(sentences) - LABEL_PROBLEMS_SHOWN_MAX
    more = [f"… and {rest:,} more missing pages; labels check lists them"] if rest > 0 else []
    return [*sentences[:LABEL_PROBLEMS_SHOWN_MAX], *more]


def _give(labels: Sequence[Label], out: str | None) -> None:
    text = native_json(LabelSet(tuple(labels), ()))
    length = len(strict_json.encode(text))
    if length > LABEL_FILE_MAX_BYTES:
        size = f"the label file would have {length:,} bytes; at most {LABEL_FILE_MAX_BYTES:,} are read"
        raise UsageError(f"{size}: make several with --part 1/2 and --part 2/2")
    if out is None:
        print_labels(labels)
    else:
        write_new(out, text)
