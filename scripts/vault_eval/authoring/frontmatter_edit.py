"""One item more in a list property of a note; every other byte of the note stays.

The text is edited, never a parsed form of it, so that quotes, comments, order and line ends are those of its owner. The
result is then read again: where anything but the one item differs, the edit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from vault_eval.errors import LabelError
from vault_eval.strict_json import JsonValue, dumps
from vault_eval.vault.note import frontmatter_tree
from vault_eval.vault.note_text import decode, frontmatter_block, why_no_frontmatter
from vault_eval.vault.paths import folded, quoted
from vault_eval.vault.property_lines import property_lines
from vault_eval.vault.yaml_tree import INTEGER_TAG, TEXT_TAG, NoteError, YamlList, YamlNode, YamlScalar

Shape: TypeAlias = "tuple[object, ...]"

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_ITEM = re.compile(r"([ \t]*)-(?=\s|$)")
_FLOW = re.compile(r"[^:]*:[ \t]*\[")
_COMMENT = re.compile(r"(?:^|\s)#")
_NO_VALUE = re.compile(r"[^:]*:[ \t]*(?:#.*)?")
_EMPTY: Shape = ("empty",)
_INDENT = "  "
_FENCE = "---"
_BY_HAND = "write the label into it by hand"
_NO_LIST = "it holds no list of lines `- …` or in brackets"


def with_item(data: bytes, name: str, item: JsonValue) -> bytes:
    """A note's bytes with `item` as the last one of the list property `name`, which is made where it is missing.

    Raises LabelError, with a sentence that says why, where that cannot be done without touching more; UnreadableFileError
    for bytes that are no UTF-8.
    """
    before = _properties(data)
    _refuse_twin(before, name)
    lines = _Lines(data)
    if name in before:
        _insert(lines, name, item)
    elif lines.end is not None:
        lines.insert(lines.end, _new_property(name, item))
    else:
        lines.enclose(_new_property(name, item))
    after = lines.bytes()
    _refuse_other_change(after, {**before, name: _longer(before.get(name), name, item)}, name)
    return after


def _refuse_twin(properties: Iterable[str], name: str) -> None:
    """Raises LabelError where a property has the same name but for letter case, which Obsidian ignores."""
    twin = next((each for each in properties if each != name and folded(each) == folded(name)), None)
    if twin is not None:
        problem = f"the note has the property {quoted(twin)}, which Obsidian takes for the same as {quoted(name)}"
        raise LabelError(f"{problem}; rename it to {quoted(name)} in the note first, or add to it as it is spelled there")


class _Lines:
    """The lines of a note, each with its own line end; `end` is the number of the closing fence, None without frontmatter."""

    def __init__(self, data: bytes) -> None:
        text = data.decode("utf-8")  # whoever asks has decoded it before
        self._bom = text[:1] if text.startswith("\ufeff") else ""
        self.lines = _LINE.findall(text[len(self._bom) :])
        folded = decode(data)
        block = frontmatter_block(folded)
        self.end = None if block is None else block.count("\n") + 1
        found = re.search(r"\r\n|\n|\r", text)
        self._line_end = found[0] if found else "\n"

    def bytes(self) -> bytes:
        return (self._bom + "".join(self.lines)).encode("utf-8")

    def property(self, name: str) -> tuple[int, int]:
        """The first line of a property and the one after its last, blank lines and comments below it left out."""
        block = [line.encode().rstrip() for line in self.lines[: self.end]]
        own = sorted(property_lines(block, name))
        while len(own) > 1 and self.lines[own[-1]].lstrip()[:1] in ("", "#"):
            own.pop()
        if not own or own != list(range(own[0], own[-1] + 1)):
            raise _refusal(name, "its lines do not stand together")
        return own[0], own[-1] + 1

    def insert(self, at: int, texts: Sequence[str]) -> None:
        self.lines[at:at] = [text + self._line_end for text in texts]

    def enclose(self, texts: Sequence[str]) -> None:
        """Frontmatter before a note that has none."""
        self.insert(0, [_FENCE, *texts, _FENCE])

    def replace(self, at: int, text: str) -> None:
        """Another text on a line, its line end as it was."""
        old = self.lines[at]
        self.lines[at] = text + old[len(old.rstrip("\r\n")) :]


def _insert(lines: _Lines, name: str, item: JsonValue) -> None:
    first, after = lines.property(name)
    texts = [line.rstrip("\r\n") for line in lines.lines[first:after]]
    if _FLOW.match(texts[0]):
        lines.replace(after - 1, _flow_with(texts, name, item))
        return
    found = next((match for match in map(_ITEM.match, texts[1:]) if match), None)
    if found is None and (len(texts) > 1 or not _NO_VALUE.fullmatch(texts[0])):
        raise _refusal(name, _NO_LIST)
    indent = _INDENT if found is None else found[1]
    lines.insert(after, [indent + text for text in _item_lines(item)])


def _flow_with(texts: Sequence[str], name: str, item: JsonValue) -> str:
    """The last line of a list in brackets with one item more."""
    last = texts[-1]
    if any(_COMMENT.search(text) for text in texts) or not last.rstrip().endswith("]"):
        raise _refusal(name, "it is a list in brackets with a comment, or over several lines")
    head, tail = last[: last.rindex("]")], last[last.rindex("]") :]
    if not head.strip() and len(texts) > 1:
        raise _refusal(name, "it is a list in brackets over several lines")
    comma = "" if head.rstrip().endswith("[") else ", "
    return f"{head}{comma}{dumps(item)}{tail}"


def _new_property(name: str, item: JsonValue) -> list[str]:
    return [f"{name}:", *(_INDENT + text for text in _item_lines(item))]


def _item_lines(item: JsonValue) -> list[str]:
    """An item of a block list: text in double quotes, an object one key a line. JSON is YAML that has one reading."""
    if not isinstance(item, dict):
        return [f"- {dumps(item)}"]
    rows = [f"{key}: {dumps(value)}" for key, value in item.items()]
    return [("- " if number == 0 else "  ") + row for number, row in enumerate(rows)]


def _properties(data: bytes) -> dict[str, Shape]:
    """Each property by name, as far as it can be told apart; raises LabelError for frontmatter that is not edited."""
    text = decode(data)
    block = frontmatter_block(text)
    if block is None:
        # An opened fence that is never closed: what its owner takes for properties would become text below ours.
        if text.split("\n", 1)[0].rstrip(" \t") in ("+++", _FENCE):
            raise LabelError(f"{why_no_frontmatter(text)}; {_BY_HAND}")
        return {}
    if all(not line.strip() or line.startswith("#") for line in block.split("\n")):
        return {}
    try:
        tree = frontmatter_tree(text)
    except NoteError as error:
        raise LabelError(f"line {error.line}: {error}; mend it, or {_BY_HAND}") from None
    names = [key.text if isinstance(key, YamlScalar) else "" for key, _ in tree.pairs]
    if len(set(names)) < len(names) or "" in names:
        raise LabelError(f"a property is there twice, or has no plain name; mend it, or {_BY_HAND}")
    return {name: _shape(value) for name, (_, value) in zip(names, tree.pairs, strict=True)}


def _shape(node: YamlNode) -> Shape:
    """What a value says and how it is quoted, without its line."""
    if isinstance(node, YamlScalar):
        return _EMPTY if node.is_null else ("scalar", node.text, node.tag, node.plain)
    if isinstance(node, YamlList):
        return ("list", *map(_shape, node.items)) if node.items else _EMPTY
    return ("map", *((_key(key), _shape(value)) for key, value in node.pairs))


def _key(node: YamlNode) -> object:
    return node.text if isinstance(node, YamlScalar) else _shape(node)


def _longer(items: Shape | None, name: str, item: JsonValue) -> Shape:
    """What the property is to be."""
    if items is not None and items[0] not in ("list", "empty"):
        raise _refusal(name, _NO_LIST)
    return ("list", *(items[1:] if items is not None else ()), _shape_of(item))


def _shape_of(value: JsonValue) -> Shape:
    """A value as it will be read from the JSON that is written for it."""
    if isinstance(value, Mapping):
        return ("map", *((key, _shape_of(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("list", *map(_shape_of, value)) if value else _EMPTY
    if isinstance(value, str):
        return ("scalar", value, TEXT_TAG, False)
    return ("scalar", dumps(value), INTEGER_TAG, True)


def _refuse_other_change(data: bytes, wanted: Mapping[str, Shape], name: str) -> None:
    try:
        same = _properties(data) == wanted
    except LabelError:
        same = False
    if not same:
        raise _refusal(name, "its form does not allow it without touching more than the one item")


def _refusal(name: str, reason: str) -> LabelError:
    return LabelError(f"the property {quoted(name)} cannot be edited safely: {reason}; {_BY_HAND}")
