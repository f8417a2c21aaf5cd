"""What every HTML page of ours shares: one file, its style and script inlined and named in its policy, every text escaped."""

from __future__ import annotations

import os
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

from vault_eval.errors import MissingPackageError
from vault_eval.reports.escaping import visible

if TYPE_CHECKING:
    from jinja2 import Environment, Template

STYLE = "report.css"
MISSING = (
    "the HTML report needs the package jinja2, which is not installed; run `python3 scripts/vault-eval.py doctor --install`, "
    "or write the report as JSON or Markdown"
)


def page_template(name: str, *, script: str | None = None, style: str | None = None) -> Template:
    """The template `name` beside this module with `script`, the style of all pages and its own `style` inlined, their hashes
    in its policy, and indentation taken out. Raises MissingPackageError where jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise MissingPackageError(MISSING) from None
    environment: Environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, finalize=_finalize)
    inlined = {"style": _read(STYLE) + (_read(style) if style else "") + _lengths(), "script": _read(script) if script else ""}
    for kind, source in inlined.items():
        digest = b64encode(sha256(source.encode()).digest()).decode()
        environment.globals |= {kind: Markup(source), f"{kind}_hash": f"sha256-{digest}"}  # noqa: S704 - our own files
    return environment.from_string("\n".join(line.strip() for line in _read(name).splitlines()))


def _read(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _lengths() -> str:
    """A class for each length of a bar, so that no element needs a style of its own and the policy can forbid them."""
    return "".join(f".w{n}{{width:{n}%}}.l{n}{{left:{n}%}}" for n in range(101)) + "\n"


def _finalize(value: object) -> object:
    """Every plain text with its control characters shown, before it is escaped; escaped text comes by here as it is."""
    return visible(value) if type(value) is str else value
