"""`labels add`: one label, into a label file, a label note, or the property of the note that answers it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from vault_eval.authoring.changes import Change, change_of, new_label_file
from vault_eval.authoring.grading import graded_label, with_grades
from vault_eval.authoring.judged_labels import NOTHING_FOUND
from vault_eval.authoring.judgements import GRADES, MEANING
from vault_eval.authoring.label_files import as_negative, named_by_query, open_labels, schema_of, with_labels
from vault_eval.authoring.new_label import checked_query, free_id, named_targets, question_in_notes, with_hashes
from vault_eval.authoring.similar import QueryTwins
from vault_eval.cli.arguments import Parser
from vault_eval.cli.labels.changing import LabelVault, add_format, add_write, open_label_vault, print_labels, show_and_write
from vault_eval.diagnosis.sections import compared_place
from vault_eval.errors import UsageError
from vault_eval.index.terms import Analyzer
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.rules import EXTENDED_SCHEMA, PLAIN_SCHEMA, normalise_query, query_id
from vault_eval.labels.sources import PROPERTY_PREFIX, beside
from vault_eval.labels.write import native_json, uses_extras
from vault_eval.limits import LABEL_ID_MAX_CHARACTERS
from vault_eval.model import Label, LabelSet, Target
from vault_eval.nearest import nearest
from vault_eval.reports.escaping import for_terminal
from vault_eval.vault.paths import has_control_character, has_lone_surrogate, quoted
from vault_eval.vault.snapshot import VaultSnapshot
from vault_eval.vault.targets import parse_target

_WHAT_ANSWERS = "name the notes that answer with --page, or say --none if no note should be found"
_GRADES = {str(grade): MEANING[verdict] for verdict, grade in GRADES.items()}
_GRADE_HELP = ", ".join(f"{grade}: {meaning}" for grade, meaning in _GRADES.items())


def run(argv: list[str]) -> int:
    """The exit code of `labels add` with these arguments."""
    options = parser().parse_args(argv)
    if bool(options.page) == options.none and not options.grade:
        raise UsageError(_WHAT_ANSWERS)
    _refuse_unusable_text(options)
    with open_label_vault(options.vault, options.data) as opened:
        source = opened.source_to_extend(options.queries)
        if source.startswith(PROPERTY_PREFIX):
            label, changes = _for_property(options, opened, source)
        elif source == beside(opened.vault.root) and not os.path.lexists(source):
            label, changes = _for_new_file(options, opened, source)
        else:
            label, changes = _for_file(options, opened, source)
        if options.format == "json":
            print_labels([label])
        if changes:
            show_and_write(changes, write=options.write, beside_json=options.format == "json")
        elif options.format == "text":
            stands = f"the query stands in {', '.join(label.pages)}" if not label.grades else f"{label.id} has these grades"
            print(f"Nothing to write: {for_terminal(stands)} already.")
    return 0


def parser() -> Parser:
    """The options of `labels add`."""
    made = Parser("labels add", "Add one label; the first makes a file beside the vault. The change is shown; --write writes it.")
    add = made.add_argument
    add("--vault", metavar="DIR", required=True, help="the folder that holds your notes")
    add("--query", metavar="TEXT", help="what you looked for, in the words you had in mind")
    add("--page", metavar="NOTE", action="append", default=[], help="a note that answers: path or [[link]]; may be repeated")
    add("--none", action="store_true", help="no note should be found; ends the skipping of a query whose pool held none")
    graded = f"how well a note answers ({_GRADE_HELP}); alone, for a label that is there; may be repeated"
    add("--grade", metavar="NOTE=N", action="append", default=[], help=graded)
    add("--queries", metavar="SOURCE", help="a label file, note:FOLDER/NOTE.md, or property:answers for the notes themselves")
    add("--id", metavar="NAME", help="the id of the label (default: made of its words); with --grade alone, of one that is there")
    add("--category", metavar="NAME", help="a group to average over")
    add("--tag", metavar="NAME", action="append", default=[], help="a further group; may be repeated")
    add("--origin", metavar="TEXT", help="where the label comes from")
    add_format(made)
    add_write(made)
    return made


def _refuse_unusable_text(options: argparse.Namespace) -> None:
    """Raises UsageError for text that no file can hold (bytes that are none in the encoding of this terminal), or that nobody
    means to have in a label: control characters, an id as long as a page.
    """
    for name in ("query", "page", "grade", "id", "category", "tag", "origin"):
        given = getattr(options, name)
        texts = given if isinstance(given, list) else [given or ""]
        if any(map(has_lone_surrogate, texts)):
            raise UsageError(f"--{name} holds bytes that are no text in {sys.getfilesystemencoding()}; type it in that encoding")
        # A line break in a query is a blank.
        if any(has_control_character(normalise_query(text) if name == "query" else text) for text in texts):
            raise UsageError(f"--{name} holds a control character or line break (such as ESC or NUL); leave it out")
    if options.id is not None and len(options.id) > LABEL_ID_MAX_CHARACTERS:
        raise UsageError(f"--id has {len(options.id):,} characters; at most {LABEL_ID_MAX_CHARACTERS} are allowed: it is a name")


def _label(options: argparse.Namespace, opened: LabelVault, name: str, source: str) -> Label:
    label = Label(
        id=name,
        query=checked_query(options.query),
        gold=named_targets(options.page, "--page", opened.vault),
        source=source,
        place="",
        category=options.category,
        tags=tuple(dict.fromkeys(options.tag)),
        origin=options.origin,
    )
    label = graded_label(label, _grades(options, opened.vault))
    if bool(label.gold) == options.none:
        raise UsageError(_WHAT_ANSWERS)
    return label


def _grades(options: argparse.Namespace, vault: VaultSnapshot) -> dict[Target, int]:
    grades: dict[Target, tuple[Target, int]] = {}
    for text in options.grade:
        note, _, grade = text.rpartition("=")
        if grade not in _GRADES:
            raise UsageError(f"--grade {quoted(text)}: write the note, `=` and a grade ({_GRADE_HELP})")
        (target,) = named_targets([note], "--grade", vault)
        if grades.setdefault(compared_place(target), (target, int(grade)))[1] != int(grade):
            raise UsageError(f"--grade gives {quoted(note)} two grades; give it one")
    return dict(grades.values())


def _for_file(options: argparse.Namespace, opened: LabelVault, source: str) -> tuple[Label, list[Change]]:
    document = opened.documents([source])[0]
    labels = open_labels(document).labels
    twin = _twin(labels, options)
    if _judges_alone(options):
        if twin is not None:
            return _for_graded(options, opened, document, twin)
        _refuse_near(labels, checked_query(options.query))
    if options.query is None and twin is not None:
        raise UsageError(f"{quoted(twin.id)} is there: judge for it with --grade alone, or name a new label with --query")
    query = checked_query(options.query)
    if options.none and twin is not None and not twin.gold and twin.skip_reason == NOTHING_FOUND:
        return _for_judged(options, opened, document, twin)
    taken = {label.id for label in labels}
    name = options.id or (query_id(query) if named_by_query(document) else free_id(query, taken))
    label = _label(options, opened, name, source)
    # A plain file stays plain: hashes alone would give it a schema that other tools do not read.
    schema = schema_of(document)
    if schema == EXTENDED_SCHEMA or (schema == PLAIN_SCHEMA and uses_extras(label)):
        label = with_hashes(label, label.gold, opened.vault)
    return label, [change_of(document, opened.vault.root, with_labels(document, [label]))]


def _for_judged(
    options: argparse.Namespace, opened: LabelVault, document: LabelDocument, label: Label
) -> tuple[Label, list[Change]]:
    """A label that is skipped since no page of its pool answers it: what is still to be said is that none should be found."""
    _refuse_beside(options, label, "id", "tag", "origin", "grade")
    negative, data = as_negative(document, label, options.category)
    return negative, [change_of(document, opened.vault.root, data)]


def _for_graded(
    options: argparse.Namespace, opened: LabelVault, document: LabelDocument, label: Label
) -> tuple[Label, list[Change]]:
    """A label that stands there: pages that a search returned, and that nobody had judged for it."""
    _refuse_beside(options, label, *(["id"] if options.query is not None else []), "category", "tag", "origin")
    graded = graded_label(label, _grades(options, opened.vault))
    new = [name for name, grade in graded.grades.items() if grade and name not in {*label.grades, *label.hashes}]
    graded = with_hashes(graded, [parse_target(name) for name in new], opened.vault)
    data = with_grades(document, graded)
    return graded, [change_of(document, opened.vault.root, data)] if data != document.data else []


def _judges_alone(options: argparse.Namespace) -> bool:
    """Whether `--grade` stands alone: for a label that is there, where one is named."""
    return bool(options.grade) and not options.page and not options.none


def _refuse_near(labels: Sequence[Label], query: str) -> None:
    """Raises UsageError where a label asks nearly this query: alone, `--grade` may be meant for it."""
    twins = QueryTwins(Analyzer())
    for label in labels:
        twins.add(label.id, label.query)
    near = twins.find(query)
    if near is not None:
        asks = quoted(next(label.query for label in labels if label.id == near))
        problem = f"no label asks {quoted(query)}, but {quoted(near)} asks {asks}"
        raise UsageError(f"{problem}; judge for that one with --id, or name what answers a new query with --page")


def _twin(labels: Sequence[Label], options: argparse.Namespace) -> Label | None:
    """The label that has this query already, or without a query this id.

    Raises UsageError for an id that none has, and where `--grade` alone does not tell which of several labels is meant.
    """
    if options.query is not None or options.id is None:
        query = checked_query(options.query)
        twins = [label for label in labels if label.query == query]
        if len(twins) > 1 and _judges_alone(options):
            ids = " and ".join(quoted(label.id) for label in twins)
            raise UsageError(f"{ids} ask {quoted(query)}; name one with --id in place of --query")
        return twins[0] if twins else None
    known = {label.id: label for label in labels}
    if options.id not in known:
        near = nearest(options.id, known)
        hint = f"; did you mean {quoted(near[0])}?" if near else "; give the words of the query with --query"
        raise UsageError(f"no label has the id {quoted(options.id)}{hint}")
    return known[options.id]


def _refuse_beside(options: argparse.Namespace, label: Label, *names: str) -> None:
    refused = ", ".join(f"--{name}" for name in names if getattr(options, name))
    if refused:
        raise UsageError(f"the query stands there as {label.id!r}; leave out {refused}")


def _for_new_file(options: argparse.Namespace, opened: LabelVault, path: str) -> tuple[Label, list[Change]]:
    label = _label(options, opened, options.id or free_id(checked_query(options.query), ()), path)
    if uses_extras(label):
        label = with_hashes(label, label.gold, opened.vault)
    change = new_label_file(path, native_json(LabelSet((label,), ())), opened.vault.root)
    load_labels([LabelDocument(path, change.after, None, list)])  # a file that is added to is read again in the same way
    return label, [change]


def _for_property(options: argparse.Namespace, opened: LabelVault, source: str) -> tuple[Label, list[Change]]:
    refused = [name for name in ("id", "category", "tag", "origin", "grade") if getattr(options, name)]
    if refused:
        raise UsageError(
            f"a property holds questions alone; leave out {', '.join(f'--{name}' for name in refused)}, or use a file"
        )
    label = _label(options, opened, query_id(checked_query(options.query)), source)
    return label, question_in_notes(label, source[len(PROPERTY_PREFIX) :], opened.vault)
