"""Questions asked in a chat: a Claude Code session (JSON Lines) or plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_eval.authoring.questions import is_question
from vault_eval.authoring.suggestions import Candidate, LeftOut, Material
from vault_eval.strict_json import JsonValue, StrictJsonError, loads

NAME = "questions in a transcript"
_QUESTION_MAX_CHARACTERS = 300
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？؟])")
_SPEAKER = re.compile(r"^\s*(?:[>*-]\s+)*(?:\*\*)?(?:user|human|me|i|you|q)(?:\*\*)?\s*[:：]\s*", re.IGNORECASE)
_ANSWERER = re.compile(r"^\s*(?:[>*-]\s+)*(?:\*\*)?(?:assistant|claude|ai|bot|a)(?:\*\*)?\s*[:：]", re.IGNORECASE)
_OPENING = re.compile(r"<([a-z-]+)>")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


def candidates(material: Material) -> Iterator[Candidate | LeftOut]:
    """Every sentence of a person that asks; which note answers it is for the owner to say."""
    for number, said in _said(material.transcript):
        for sentence in _sentences(said):
            if is_question(sentence) and len(sentence) <= _QUESTION_MAX_CHARACTERS:
                yield Candidate(sentence, None, f"transcript, line {number}")


def _sentences(said: str) -> Iterator[str]:
    for line in _FENCED.sub("\n", _without_insertions(said)).split("\n"):
        if not _ANSWERER.match(line):
            yield from (sentence.strip() for sentence in _SENTENCE_END.split(_SPEAKER.sub("", line)))


def _without_insertions(said: str) -> str:
    """What was said without what a client inserts as `<name>…</name>`; a name that is not closed is text."""
    kept, at = [], 0
    never_closed: set[str] = set()
    for found in _OPENING.finditer(said):
        if found.start() < at or found[1] in never_closed:
            continue
        closing = f"</{found[1]}>"
        end = said.find(closing, found.end())
        if end < 0:
            never_closed.add(found[1])
        else:
            kept.append(said[at : found.start()])
            at = end + len(closing)
    return "\n".join([*kept, said[at:]])


def _said(transcript: str) -> Iterator[tuple[int, str]]:
    """What a person said, with the line it stands on; every line of a text that is no session."""
    lines = transcript.split("\n")
    first = next((line for line in lines if line.strip()), "")
    is_session = _event(first) is not None
    for number, line in enumerate(lines, start=1):
        if not is_session:
            yield number, line
            continue
        event = _event(line)
        if event is not None and event.get("type") == "user" and event.get("isMeta") is not True:
            yield number, _text(event.get("message"))


def _event(line: str) -> dict[str, JsonValue] | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        event = loads(line)
    except StrictJsonError:
        return None
    return event if isinstance(event, dict) else None


def _text(message: JsonValue) -> str:
    """The text of a message, without results of tools."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))
