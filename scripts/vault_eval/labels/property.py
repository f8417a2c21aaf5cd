"""Questions kept in the notes that answer them: a property such as `answers:`, gathered from the whole vault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vault_eval.digests import sha256_of_lines
from vault_eval.labels.problems import Place, Problems
from vault_eval.labels.rules import normalise_query, query_id
from vault_eval.limits import LABEL_GOLD_PAGES_MAX, LABEL_QUERIES_MAX, LABEL_QUERY_MAX_CHARACTERS
from vault_eval.model import Label, LabelSet, LabelSource, Target
from vault_eval.vault.note import frontmatter_tree
from vault_eval.vault.note_text import frontmatter_block
from vault_eval.vault.paths import has_lone_surrogate, page_name, page_problem, quoted
from vault_eval.vault.yaml_tree import TEXT_TAG, NoteError, YamlList, YamlNode, YamlScalar


@dataclass(frozen=True, slots=True)
class _Question:
    query: str
    page: str
    line: int


def gather_answers(notes: Iterable[tuple[str, str]], property_name: str = "answers") -> LabelSet:
    """One label for each question, its gold the notes (page, `decode`d text) that hold it, in the order of the notes.

    The id is made from the question. A property without a value, as Obsidian leaves it, asks nothing. The digest of the
    source is that of the questions and pages. Raises LabelError with all problems.
    """
    problems = Problems()
    asked = [question for page, text in notes for question in _questions(page, text, property_name, problems)]
    pages: dict[str, dict[str, int]] = {}
    for question in asked:
        pages.setdefault(question.query, {}).setdefault(question.page, question.line)
    source = f"property:{property_name}"
    labels = tuple(_label(query, gold, source, problems) for query, gold in pages.items())
    if not labels:
        problems.add(f"{source}: no note of the vault has a question in the property {quoted(property_name)}; add one to a note")
    problems.raise_if_any()
    digest = sha256_of_lines(f"{question.page}\t{question.query}" for question in asked)
    return LabelSet(labels, (LabelSource(source, digest, "property"),), problems.warnings)


def questions_of(page: str, text: str, property_name: str) -> tuple[str, ...]:
    """The questions that one note (`decode`d text) holds in a property; none without it. Raises LabelError with all problems."""
    problems = Problems()
    found = tuple(question.query for question in _questions(page, text, property_name, problems))
    problems.raise_if_any()
    return found


def _label(query: str, gold: dict[str, int], source: str, problems: Problems) -> Label:
    page, line = next(iter(gold.items()))
    if len(gold) > LABEL_GOLD_PAGES_MAX:
        message = f"{len(gold)} notes hold the question {quoted(query)}; at most {LABEL_GOLD_PAGES_MAX} are allowed"
        Place(problems, page, f"line {line}").problem(message)
    targets = tuple(Target(page) for page in gold)
    return Label(id=query_id(query), query=query, gold=targets, source=source, place=f"{page} line {line}")


def _questions(page: str, text: str, name: str, problems: Problems) -> Iterator[_Question]:
    place = Place(problems, page)
    if not _may_hold(text, name):
        return
    refusal = page_problem(page)
    if refusal is not None:
        place.problem(refusal)
        return
    try:
        tree = frontmatter_tree(text)
    except NoteError as error:
        place.at(f"line {error.line}").problem(str(error))
        return
    values = [value for key, value in tree.pairs if isinstance(key, YamlScalar) and key.text == name]
    if len(values) > 1:
        place.at(f"line {values[1].line}").problem(f"the property {quoted(name)} is there twice; write it once")
    for value in values[:1]:
        yield from _listed(value, page_name(page), name, place)


def _may_hold(text: str, name: str) -> bool:
    """Whether the property stands in the note, without reading its YAML: a vault has thousands that lack it."""
    if name not in text:
        return False
    block = frontmatter_block(text)
    return block is not None and re.search(rf"^[\"']?{re.escape(name)}[\"']?[ \t]*:", block, re.MULTILINE) is not None


def _listed(value: YamlNode, page: str, name: str, place: Place) -> Iterator[_Question]:
    here = place.at(f"line {value.line}")
    if isinstance(value, YamlScalar) and value.is_null:
        return
    if not isinstance(value, YamlList):
        here.problem(f"{name} must be a list of questions, one a line after `- `")
        return
    if len(value.items) > LABEL_QUERIES_MAX:
        here.problem(f"{len(value.items):,} questions; a note has at most {LABEL_QUERIES_MAX:,}")
        return
    seen: set[str] = set()
    for item in value.items:
        query = _query(item, name, place.at(f"line {item.line}"))
        if query in seen:
            place.at(f"line {item.line}").problem(f"{name} holds the question {quoted(query)} twice; write it once")
        elif query:
            seen.add(query)
            yield _Question(query, page, item.line)


def _query(item: YamlNode, name: str, place: Place) -> str:
    """The question as it is searched; empty where it is faulty, which is reported."""
    if not isinstance(item, YamlScalar) or item.tag != TEXT_TAG:
        found = quoted(item.text) if isinstance(item, YamlScalar) and item.text else "something that is no text"
        place.problem(f"{name} holds {found}, which YAML does not read as text; quote the text")
        return ""
    query = normalise_query(item.text)
    if has_lone_surrogate(query):
        place.problem(f"{name} holds {quoted(query)}, in which half a character stands (a lone surrogate, not valid Unicode)")
        return ""
    if not query:
        place.problem(f"{name} holds an empty question; remove it")
    elif len(query) > LABEL_QUERY_MAX_CHARACTERS:
        place.problem(f"{name} holds a question of {len(query):,} characters; at most {LABEL_QUERY_MAX_CHARACTERS:,} are allowed")
        return ""
    return query
