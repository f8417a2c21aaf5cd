"""What one note says of itself: its text, where the body starts, and its frontmatter. Only here is YAML read.

Frontmatter is what Obsidian shows as properties: line 1 is `---`, a later line is `---`, and what lies between is a
YAML mapping. Values are raw scalars of the composed tree: no date, number or tag is built, so an alias bomb, an
impossible date or a `!!python` tag is text like any other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any, Protocol

from vault_eval.errors import MissingPackageError
from vault_eval.vault.note_text import frontmatter_block, why_no_frontmatter
from vault_eval.vault.paths import has_lone_surrogate, quoted
from vault_eval.vault.yaml_tree import NULL_TAG, NoteError, YamlList, YamlMap, YamlNode, YamlScalar

# Labels need four levels; deeper nesting would only serve to exhaust the stack of whoever walks it.
_TREE_DEPTH_MAX_LEVELS = 50
_MISSING = "reading note properties needs the package python-frontmatter; run `vault-eval.py doctor --install`"


@dataclass(frozen=True, slots=True)
class Note:
    """One note as read: the whole text, and the properties that searching uses.

    `body_line` is the 0-based index of the first line after the frontmatter, 0 without any. Warnings are for a person.
    """

    text: str
    body_line: int = 0
    title: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    schema: str | None = None
    warnings: tuple[str, ...] = ()


class _Mark(Protocol):
    index: int


class _Node(Protocol):
    """A composed YAML node, as far as it is read here; `value` depends on `id`: text, nodes, or pairs of nodes."""

    id: str
    tag: str
    value: Any
    start_mark: _Mark


def parse_note(text: str) -> Note:
    """The note whose `decode`d text this is; it never raises for what the text says.

    A block between fences that is invalid YAML or no mapping is body text, with a warning that names its line.
    """
    block = frontmatter_block(text)
    if block is None:
        return Note(text)
    body_line = block.count("\n") + 2
    if not block.strip():
        return Note(text, body_line)
    try:
        root = _compose(block)
    except NoteError as error:
        return Note(text, warnings=(f"line {error.line}: {error}; the block is read as body text",))
    if root is None or root.id != "mapping":
        return Note(text, warnings=("line 1: the block between the `---` lines holds no properties; it is read as body text",))
    return _with_properties(text, body_line, root)


def frontmatter_tree(text: str) -> YamlMap:
    """The properties of a `decode`d note as a tree of raw scalars, with lines of the file.

    Raises NoteError for no or unclosed frontmatter, TOML, invalid YAML, anything but a mapping, anchors, aliases,
    explicit tags, and nesting deeper than 50 levels.
    """
    block = frontmatter_block(text)
    if block is None:
        raise NoteError(why_no_frontmatter(text))
    lines = _LineNumbers(block)
    _refuse_indirection(block, lines)
    root = _compose(block)
    if root is None or root.id != "mapping":
        raise NoteError("the frontmatter holds no properties (`name: value`)")
    return YamlMap(_pairs(root, lines), lines.of(root))


def unsafe_values(text: str) -> tuple[str, ...]:
    """One sentence for each top-level property that a YAML reader which builds values cannot load; usually none.

    An impossible date such as 2025-02-30 is what people write; it raises a bare ValueError in other programs.
    """
    block = frontmatter_block(text) or ""
    if _load_failure(block) is None:
        return ()
    found = ((name, line, _load_failure(lines)) for name, line, lines in _property_blocks(block))
    return tuple(
        f"line {line}: the property {quoted(name)} has a value that other programs cannot load (a date?): {reason}"
        for name, line, reason in found
        if reason is not None
    )


def _load_failure(block: str) -> str | None:
    try:
        from frontmatter.default_handlers import YAMLHandler
    except ImportError:
        raise MissingPackageError(_MISSING) from None
    try:
        YAMLHandler().load(block)
    except Exception as error:  # noqa: BLE001 - YAMLError, ValueError, OverflowError, TypeError: whatever it is, is the finding
        return next(iter(str(error).splitlines()), type(error).__name__)
    return None


def _property_blocks(block: str) -> Iterator[tuple[str, int, str]]:
    """Each top-level property: its name, its line in the file, and its lines."""
    try:
        root = _compose(block)
    except NoteError:
        return
    if root is None or root.id != "mapping":
        return
    numbers = _LineNumbers(block)
    lines = block.split("\n")
    keys = [(str(key.value) if key.id == "scalar" else "", numbers.of(key)) for key, _ in root.value]
    for (name, line), (_, following) in pairwise([*keys, ("", len(lines) + 2)]):
        yield name, line, "\n".join(lines[line - 2 : following - 2])


class _LineNumbers:
    """Lines of the file for places in the block; YAML also counts U+2028 and NEL as line ends, so its own count will not do."""

    def __init__(self, block: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", block)]

    def at(self, index: int) -> int:
        return bisect_left(self._ends, index) + 2

    def of(self, node: _Node) -> int:
        return self.at(node.start_mark.index)


def _yaml() -> ModuleType:
    try:
        import yaml
    except ImportError:
        raise MissingPackageError(_MISSING) from None
    return yaml


def _loader(yaml: ModuleType) -> Any:  # noqa: ANN401 - the C class and the Python class share no base that is typed
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _compose(block: str) -> _Node | None:
    """The composed tree of the block, None for nothing but comments; raises NoteError with the line in the file."""
    yaml = _yaml()
    try:
        node: _Node | None = yaml.compose(block, Loader=_loader(yaml))
    except (yaml.YAMLError, RecursionError) as error:
        raise _note_error(error, block) from None
    return node


def _note_error(error: Exception, block: str) -> NoteError:
    problem = str(getattr(error, "problem", None) or next(iter(str(error).splitlines()), "nested too deeply"))
    mark = getattr(error, "problem_mark", None)
    line = _LineNumbers(block).at(mark.index) if mark is not None else _line_of_character(error, block)
    source = block.split("\n")[min(line - 2, block.count("\n"))]
    if "mapping values are not allowed" in problem:
        problem += "; a value that holds `: ` must stand in quotes: quote the text"
    elif "\t" in source[: len(source) - len(source.lstrip())]:
        problem += "; the line starts with a tab: indent with blanks"
    elif "cannot start any token" in problem:
        problem += "; a value that starts with `@`, `%` or a backtick must stand in quotes: quote the text"
    elif "alias" in f"{getattr(error, 'context', '')} {problem}" or "anchor" in f"{getattr(error, 'context', '')}":
        problem += "; a value that starts with `*` or `&` must stand in quotes"
    return NoteError(f"the frontmatter is not valid YAML: {problem}", line)


def _line_of_character(error: Exception, block: str) -> int:
    """The line of a character that YAML refuses; the position it gives is in bytes or in characters, so it is not used."""
    code = getattr(error, "character", None)
    place = block.find(chr(code)) if isinstance(code, int) else -1
    return _LineNumbers(block).at(max(place, 0))


def _refuse_indirection(block: str, lines: _LineNumbers) -> None:
    yaml = _yaml()
    depth = 0
    try:
        for event in yaml.parse(block, Loader=_loader(yaml)):
            if getattr(event, "anchor", None) is not None:
                message = "anchors (`&name`) and aliases (`*name`) are not allowed; write the value out, or quote the text"
                raise NoteError(message, lines.of(event))
            if getattr(event, "tag", None) is not None:
                raise NoteError(f"the tag {quoted(event.tag)} is not allowed; remove it, or quote the text", lines.of(event))
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _TREE_DEPTH_MAX_LEVELS:
                raise NoteError(f"nested deeper than {_TREE_DEPTH_MAX_LEVELS} levels", lines.of(event))
    except (yaml.YAMLError, RecursionError) as error:
        raise _note_error(error, block) from None


def _tree(node: _Node, lines: _LineNumbers) -> YamlNode:
    """The frozen tree of a composed node, whose depth `_refuse_indirection` has bounded."""
    line = lines.of(node)
    if node.id == "mapping":
        return YamlMap(_pairs(node, lines), line)
    if node.id == "sequence":
        return YamlList(tuple(_tree(item, lines) for item in node.value), line)
    return YamlScalar(node.value, node.tag, not getattr(node, "style", None), line)


def _pairs(node: _Node, lines: _LineNumbers) -> tuple[tuple[YamlNode, YamlNode], ...]:
    return tuple((_tree(key, lines), _tree(value, lines)) for key, value in node.value)


def _with_properties(text: str, body_line: int, root: _Node) -> Note:
    found: dict[str, list[str]] = {"title": [], "schema": [], "alias": [], "tag": []}
    for key, value in root.value:
        name = _PROPERTY_NAMES.get(key.value.casefold()) if key.id == "scalar" else None
        if name is not None:
            found[name] += _texts(value)
    tags = (part.lstrip("#") for text in found["tag"] for part in re.split(r"[,\s]+", text))
    return Note(
        text,
        body_line,
        title=next(iter(found["title"]), None),
        aliases=tuple(dict.fromkeys(found["alias"])),
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
        schema=next(iter(found["schema"]), None),
    )


# Obsidian takes these names in any letter case, one or many.
_PROPERTY_NAMES = {"title": "title", "schema": "schema", "alias": "alias", "aliases": "alias", "tag": "tag", "tags": "tag"}


def _texts(node: _Node) -> list[str]:
    """The text of a scalar, or of the scalars directly in a list; nothing for null, half characters and anything nested."""
    nodes: list[_Node] = node.value if node.id == "sequence" else [node]
    texts = [item.value.strip() for item in nodes if item.id == "scalar" and item.tag != NULL_TAG]
    return [text for text in texts if text and not has_lone_surrogate(text)]
