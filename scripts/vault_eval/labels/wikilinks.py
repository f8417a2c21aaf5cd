"""Gold as people write it in a note: `"[[Tides]]"`, `../Sea/Tides.md`, or an exact path."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence

from vault_eval.model import Target
from vault_eval.vault.paths import folded, is_markdown, is_pdf, page_name, page_problem, quoted
from vault_eval.vault.targets import TargetError, parse_target, split_fragment

_CHOICES_SHOWN_MAX = 5
_ABOVE_THE_VAULT = ".."
# Other files that Obsidian opens and people link to; a note may be called `Node.js`, but hardly `Map.png`.
_OTHER_FILES = (
    *(".canvas", ".base", ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".svg", ".webp", ".avif"),
    *(".mp3", ".wav", ".m4a", ".ogg", ".3gp", ".flac", ".mp4", ".webm", ".ogv", ".mov", ".mkv"),
    *(".txt", ".html", ".docx", ".csv", ".json"),
)


class PageNames:
    """The pages of a vault by name; the vault is listed when the first question comes, and once."""

    def __init__(self, pages: Callable[[], Sequence[str]]) -> None:
        self._list = pages
        self._exact: frozenset[str] | None = None
        self._by_last_segment: dict[str, list[str]] = {}

    def has(self, path: str) -> bool:
        """Whether a page has exactly this name."""
        return path in self._listed()

    def ending_in(self, path: str) -> tuple[str, ...]:
        """The pages whose path is `path`, or ends in it after a `/`, in any letter case and Unicode form; sorted."""
        self._listed()
        key = folded(path)
        candidates = self._by_last_segment.get(key.rsplit("/", 1)[-1], [])
        return tuple(page for page in candidates if f"/{folded(page)}".endswith(f"/{key}"))

    def _listed(self) -> frozenset[str]:
        if self._exact is None:
            pages = sorted({page_name(page) for page in self._list()})
            for page in pages:
                self._by_last_segment.setdefault(folded(page).rsplit("/", 1)[-1], []).append(page)
            self._exact = frozenset(pages)
        return self._exact


class LinkResolver:
    """Reads the targets of one label note; `folder` is the note's folder in the vault, None for a note outside."""

    def __init__(self, pages: PageNames, folder: str | None) -> None:
        self._pages = pages
        self._folder = folder

    def target(self, text: str) -> Target:
        """The gold place named by a path, a relative path or a `[[wikilink]]`.

        A path with its suffix is taken as written. A link that no page answers to becomes the path it would have,
        which is then missing gold. Raises TargetError where the text cannot name a page, or names several.
        """
        link = _inside_brackets(text)
        written = page_name(text if link is None else link)
        path, fragment = split_fragment(written)
        if path.lower().endswith((".md", ".pdf")):
            exact = _target(self._from_folder(path, text), fragment)
            if link is None:
                return exact
        return self._linked(written, text)

    def _linked(self, link: str, text: str) -> Target:
        readings = _readings(link)
        if not readings[-1][0]:
            raise TargetError(f"the link {quoted(text)} names no note; write \"[[Note]]\" or a path such as 'Folder/Note.md'")
        for name, fragment in readings:
            page = self._page(name, text)
            if page is not None:
                return _target(page, fragment)
        name, fragment = readings[-1]
        if name.lower().endswith(_OTHER_FILES):
            return parse_target(self._from_folder(name, text))  # raises: neither Markdown nor PDF
        return _target(_suffixed(self._from_folder(name, text)), fragment)

    def _page(self, name: str, text: str) -> str | None:
        """The one page that `name` means, None for none."""
        path = _suffixed(self._from_folder(name, text))
        problem = page_problem(path)
        if problem is not None:
            raise TargetError(problem)
        if self._pages.has(path):
            return path
        if name.startswith(("./", "../")):
            return None
        found = self._pages.ending_in(path)
        if len(found) > 1:
            shown = ", ".join(quoted(page) for page in found[:_CHOICES_SHOWN_MAX])
            more = f" and {len(found) - _CHOICES_SHOWN_MAX} more" if len(found) > _CHOICES_SHOWN_MAX else ""
            raise TargetError(f"the link {quoted(text)} fits {len(found)} pages: {shown}{more}; write the whole path of one")
        return found[0] if found else None

    def _from_folder(self, name: str, text: str) -> str:
        """`./` and `../` resolved from the note's folder; any other name as it is."""
        if not name.startswith(("./", "../")):
            return name
        if self._folder is None:
            message = f"the path {quoted(text)} is relative, but the label note lies in no vault; write it from the vault's top"
            raise TargetError(message)
        path = posixpath.normpath(posixpath.join(self._folder, name))
        if path.split("/")[0] == _ABOVE_THE_VAULT:
            raise TargetError(f"the path {quoted(text)} leaves the vault; write a path from the vault's top")
        return path


def _inside_brackets(text: str) -> str | None:
    """What a wikilink links to, without the text it shows; None where it is no wikilink."""
    link = text.strip()
    return link[2:-2].split("|", 1)[0].strip() if link.startswith("[[") and link.endswith("]]") else None


def _readings(link: str) -> tuple[tuple[str, str | None], ...]:
    """What a link may mean: all of it a name, as in `C# tips`, or a name and a place in that note."""
    path, fragment = split_fragment(link)
    if fragment is not None:
        return ((path, fragment),)
    name, sign, place = link.partition("#")
    return ((link, None), (name.strip(), place)) if sign else ((link, None),)


def _suffixed(name: str) -> str:
    return name if is_markdown(name) or is_pdf(name) else f"{name}.md"


def _target(path: str, fragment: str | None) -> Target:
    return parse_target(path if fragment is None else f"{path}#{fragment}")
