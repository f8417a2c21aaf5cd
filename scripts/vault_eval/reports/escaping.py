"""Text of a vault, label or query as data: what it holds is shown and never acts, in a terminal, in Markdown, in a link."""

from __future__ import annotations

import re

# Unicode Cc (line breaks, TAB and ESC among them), direction marks and overrides, line and paragraph separators, byte
# order mark, annotation marks, half characters, and the invisible tag letters that can hide a text inside another.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}

# What begins markup in CommonMark, on GitHub or in Obsidian. `_` inside a word, one `=` or `%`, and a `:` that starts
# neither an address nor an emoji name are left as they are, so that the source stays readable.
_MARKUP = re.compile(
    r"[&<>\[\]|`*~^\\@#$]|(?<![^\W_])_|_(?![^\W_])|=(?==)|(?<==)=|%(?=%)|(?<=%)%|:(?=//|[\w+-]+:)|(?<=www)\.", re.IGNORECASE
)
_BLOCK_START = re.compile(r"\A(?:(\d+)([.)])(?=\s|\Z)|[-+= ])")
# GitHub looks for mentions, issue numbers, addresses and emoji after entities are decoded; a break in the text stops it.
_BROKEN_UP = frozenset("@#:")


def visible(text: str) -> str:
    r"""The text with every control, direction mark, line break and half character written as `\n`, `\x1b` or `\u202e`."""
    return _HIDDEN.sub(_escape, text)


def for_terminal(text: str) -> str:
    """The text as one line that a terminal can only show: no escape sequence, no line break, no change of direction."""
    return visible(text)


def for_markdown(text: str) -> str:
    """The text as inline Markdown for GitHub and Obsidian that shows it and nothing else, in a table cell too.

    No HTML, link, image, tag, mention, emphasis, math, comment, heading, list or callout comes of it, wherever it stands.
    """
    inline = _MARKUP.sub(lambda found: _entity(found[0]), visible(text))
    inline = _BLOCK_START.sub(lambda found: (found[1] or "") + _entity(found[2] or found[0]), inline)
    return inline[:-1] + _entity(" ") if inline.endswith(" ") else inline


def obsidian_link(vault_name: str, page: str) -> str:
    """The address that opens a page in Obsidian: `obsidian://open?vault=…&file=…`, all but letters, digits and `_.-~` encoded."""
    from urllib.parse import quote

    vault, file = (quote(part, safe="", errors="surrogatepass") for part in (vault_name, page))
    return f"obsidian://open?vault={vault}&file={file}"


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if code <= 0xFF:
        return _NAMED.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _entity(character: str) -> str:
    entity = f"&#{ord(character)};"
    if character == "$":
        return f"<span>{entity}</span>"  # GitHub's way to write a dollar sign that opens no formula
    return f"{entity}<wbr>" if character in _BROKEN_UP else entity
