"""One new label from what a person typed: a query, and the notes that answer it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from vault_eval.authoring.changes import Change
from vault_eval.authoring.file_text import text_of
from vault_eval.authoring.frontmatter_edit import with_item
from vault_eval.authoring.gold_places import GoldPlaces
from vault_eval.diagnosis.sections import compared_place
from vault_eval.digests import sha256_hex
from vault_eval.errors import LabelError, UsageError
from vault_eval.labels.eligibility import settle
from vault_eval.labels.property import questions_of
from vault_eval.labels.rules import normalise_query, query_id, usable_target
from vault_eval.labels.wikilinks import LinkResolver, PageNames
from vault_eval.model import Label, Target
from vault_eval.vault.note_text import decode
from vault_eval.vault.paths import quoted
from vault_eval.vault.snapshot import VaultSnapshot
from vault_eval.vault.targets import TargetError, target_text

_ID_WORDS_MAX = 6
_ID_MAX_CHARACTERS = 48
_WORD = re.compile(r"\w+")


def named_targets(texts: Sequence[str], option: str, vault: VaultSnapshot) -> tuple[Target, ...]:
    """The places that a person named with `option`, by path or `[[wikilink]]`, all of them in the vault.

    An embed `![[…]]` is the link that it holds. Raises LabelError for one that names none, or several, for a page, or a place
    of it, that is not there, with what it may be instead, and for a page in which no search finds anything, with the reason.
    """
    resolver = LinkResolver(PageNames(lambda: vault.names), "")
    try:
        targets = _once_each([usable_target(_link(text), resolver.target) for text in texts])
    except TargetError as error:
        raise LabelError(f"{option}: {error}") from None
    named = Label(id="", query="", gold=targets, source=option, place="")
    for settled in settle([named], vault.listing, vault.reader, None, None, lambda _page: None):
        for page, reason in settled.missing.items():
            raise LabelError(f"{option} {quoted(page)}: {reason}")
    places = GoldPlaces(vault)
    for target in targets:
        fault = places.unreadable(target.page) or places.fault(target)
        if fault is not None:
            raise LabelError(f"{option} {quoted(target_text(target))}: {fault}")
    return targets


def _once_each(targets: Sequence[Target]) -> tuple[Target, ...]:
    """The places in order, each as it is written first."""
    found: dict[Target, Target] = {}
    for target in targets:
        found.setdefault(compared_place(target), target)
    return tuple(found.values())


def _link(text: str) -> str:
    return text.strip()[1:] if text.strip().startswith("![[") else text


def with_hashes(label: Label, judged: Sequence[Target], vault: VaultSnapshot) -> Label:
    """The label with the SHA-256 of each page judged now, by which `labels check` sees that it was edited since."""
    hashes = {target_text(target): sha256_hex(vault.read(target.page)) for target in judged}
    return replace(label, hashes={**label.hashes, **hashes})


def checked_query(text: str | None) -> str:
    """The query as it is searched. Raises UsageError for none."""
    query = normalise_query(text or "")
    if not query:
        raise UsageError("--query is empty; write what you looked for")
    return query


def free_id(query: str, taken: Collection[str]) -> str:
    """A readable id made of the first words of a query, numbered where it is taken."""
    words = "-".join(_WORD.findall(query.casefold())[:_ID_WORDS_MAX])[:_ID_MAX_CHARACTERS].strip("-") or query_id(query)
    number = 1
    while (name := words if number == 1 else f"{words}-{number}") in taken:
        number += 1
    return name


def question_in_notes(label: Label, name: str, vault: VaultSnapshot) -> list[Change]:
    """The change of each gold note that puts the query into its property `name`; none where it stands there already.

    Raises LabelError where a note cannot be edited safely, and for what a property cannot hold.
    """
    if not label.gold:
        raise LabelError(f"the property {quoted(name)} stands in the note that answers; keep a query that none answers in a file")
    if any(target != Target(target.page) for target in label.gold):
        raise LabelError(f"the property {quoted(name)} speaks for its whole note; leave out what follows `#`, or use a file")
    disk_paths = {note.page: note.disk_path for note in vault.listing.notes}
    changes = []
    for page in label.pages:
        path = disk_paths.get(page)
        if path is None:
            raise LabelError(f"{quoted(page)} is excluded or cannot be read; a label in it would never be found")
        data = vault.reader.read(path)
        if label.query not in questions_of(page, text_of(page, data), name):
            changes.append(Change(vault.root, path, data, _with_question(page, data, name, label.query)))
    return changes


def _with_question(page: str, data: bytes, name: str, query: str) -> bytes:
    try:
        after = with_item(data, name, query)
    except LabelError as error:
        raise LabelError(f"{quoted(page)}: {error}") from None
    if query not in questions_of(page, decode(after), name):
        raise LabelError(f"{quoted(page)}: the query cannot be read back from the property {quoted(name)}; use a file")
    return after
