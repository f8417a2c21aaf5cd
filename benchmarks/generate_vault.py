"""A synthetic vault with labelled queries: `python benchmarks/generate_vault.py --notes N --queries N --seed S OUT`.

Writes OUT/vault/ and OUT/queries.json (queries-1.json, queries-2.json, … above 1,000 queries). The same numbers give the
same bytes, and a smaller vault is the beginning of a larger one: note i depends on the seed and on i alone. Words
follow a Zipf-Mandelbrot law, each note has a topic of its own, and identifiers, aliases, lists, tables, code, links and
Japanese paragraphs occur as they do in vaults that people keep. Standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import TypeAlias

SCHEMA = "claude-obsidian.retrieval-queries.v1"
QUERIES_MAX_OF_A_FILE = 1_000

# The commonest words are the small ones of English; none has the shape of a word made by `word`.
SMALL_TEXT = (
    "the of and to a in is that for it was on are as with his they be at one have this from or had by hot but some what "
    "there we can out other were all your when up use word how said an each she which do their time if will way about many "
    "then them would write like so these her long make thing see him two has look more day could go come did my sound no "
    "most number who over know water than call first people may down side been now find"
)
SMALL_WORDS = SMALL_TEXT.split()
VOCABULARY_WORDS = 400_000
ZIPF_EXPONENT, ZIPF_SHIFT = 1.07, 2.7
FIRSTS, VOWELS, LASTS = "bdfghjklmnprstvz", "aeiou", "klmnrst"
SYLLABLES = tuple(first + vowel for first in FIRSTS for vowel in VOWELS)
RANKS_OF_SHORT_WORDS = 20_000
SCRAMBLE = 7_919  # prime to the number of words of a length, so that neighbours in rank do not look alike

TOPIC_WORDS, TOPIC_RANKS, TOPIC_EVERY_WORDS = 40, (200, 60_000), 9
KANA = tuple(map(chr, range(0x3042, 0x3094)))
HAN = tuple(map(chr, range(0x4E00, 0x4E00 + 2_500)))
JAPANESE_EVERY_NOTES, JAPANESE_CHARACTERS = 25, 260
LABEL: TypeAlias = "dict[str, str | list[str]]"


@dataclass(frozen=True, slots=True)
class Note:
    """One note, and what queries about it are made of; `japanese` is empty for most."""

    page: str
    text: str
    title: str
    topic: tuple[str, ...]
    words: tuple[str, ...]
    identifier: str
    japanese: str


def word(rank: int) -> str:
    """The word of this rank, from 0: three or four times consonant and vowel, then a consonant; no two ranks share one."""
    if rank < len(SMALL_WORDS):
        return SMALL_WORDS[rank]
    length = 3 if rank < RANKS_OF_SHORT_WORDS else 4
    place = rank * SCRAMBLE % (len(SYLLABLES) ** length * len(LASTS))
    place, last = divmod(place, len(LASTS))
    syllables = []
    for _ in range(length):
        place, syllable = divmod(place, len(SYLLABLES))
        syllables.append(SYLLABLES[syllable])
    return "".join(syllables) + LASTS[last]


def zipf(choices: int, exponent: float = 1.0, shift: float = ZIPF_SHIFT) -> list[float]:
    """Cumulated weights 1 / (rank + shift) ** exponent for `draw`."""
    return list(accumulate((rank + shift) ** -exponent for rank in range(1, choices + 1)))


def draw(random: Random, cumulated: Sequence[float]) -> int:
    """A place from 0, drawn by cumulated weights."""
    return bisect(cumulated, random.random() * cumulated[-1])


class Generator:
    """Makes the notes of one seed, in any order."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._ranks = zipf(VOCABULARY_WORDS, ZIPF_EXPONENT)
        self._topics = zipf(TOPIC_WORDS)
        self._han = zipf(len(HAN))

    def note(self, number: int) -> Note:
        """Note `number`, from 0: 300 to 800 words, every ninth from its topic."""
        random = Random(f"{self._seed}/{number}")
        topic = tuple(word(random.randrange(*TOPIC_RANKS)) for _ in range(TOPIC_WORDS))
        identifier = random.choice((f"{topic[0]}_{topic[1]}_{random.randrange(100, 999)}", topic[0] + topic[1].capitalize()))
        words = self._words(random, topic, identifier, number)
        title = " ".join(topic[: random.choice((2, 3, 3, 4))]).title()
        japanese = self._japanese(random) if number % JAPANESE_EVERY_NOTES == 3 else ""
        parts = [f"# {title}", *_sections(random, topic, words), *_extras(random, topic, identifier, number)]
        parts += ["## 日本語の節", japanese] if japanese else []
        page = f"wiki/area-{number // 2_000:03d}/topic-{number // 100 % 20:02d}/note {number:06d} {topic[0]}.md"
        text = _properties(random, title, topic, number) + "\n\n".join(parts) + "\n"
        return Note(page, text, title, topic, words, identifier, japanese)

    def _words(self, random: Random, topic: Sequence[str], identifier: str, number: int) -> tuple[str, ...]:
        words = [word(draw(random, self._ranks)) for _ in range(random.randint(300, 800))]
        for place in range(0, len(words), TOPIC_EVERY_WORDS):
            words[place] = topic[draw(random, self._topics)]
        words[random.randrange(len(words))] = identifier
        for _ in range(3):
            target = random.randrange(max(1, number))
            words[random.randrange(len(words))] = f"[[note {target:06d}|{random.choice(topic)}]]"
        return tuple(words)

    def _japanese(self, random: Random) -> str:
        letters = [
            HAN[draw(random, self._han)] if random.random() < 0.55 else random.choice(KANA) for _ in range(JAPANESE_CHARACTERS)
        ]
        return "。".join("".join(letters[start : start + 40]) for start in range(0, JAPANESE_CHARACTERS, 40))


def _properties(random: Random, title: str, topic: Sequence[str], number: int) -> str:
    """Frontmatter as people keep it; only title, aliases and tags are searched."""
    day = f"{1 + number % 12:02d}-{1 + number % 28:02d}"
    return (
        f'---\ntitle: "{title}"\naliases:\n  - {topic[4]}\n  - {topic[5]} {topic[6]}\ntags: [{topic[7]}, area/{topic[8]}]\n'
        f"status: {random.choice(('seed', 'evergreen', 'draft'))}\ncreated: 2026-{day}\n---\n\n"
    )


def _sections(random: Random, topic: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    """Paragraphs of 35 to 110 words, some of them lists, under headings."""
    start = section = 0
    while start < len(words):
        if section and (section % 3 == 0 or random.random() < 0.35):
            yield random.choice(("##", "##", "###")) + " " + " ".join(random.sample(list(topic), 3)).capitalize()
        length = random.randint(35, 110)
        sentences = list(_sentences(random, words[start : start + length]))
        yield "- " + "\n- ".join(sentences) if random.random() < 0.15 else " ".join(sentences)
        start, section = start + length, section + 1


def _sentences(random: Random, words: Sequence[str]) -> Iterator[str]:
    start = 0
    while start < len(words):
        length = random.randint(6, 22)
        first, *others = words[start : start + length]
        yield " ".join([first[:1].upper() + first[1:], *others]) + random.choice(".....?!,")
        start += length


def _extras(random: Random, topic: Sequence[str], identifier: str, number: int) -> list[str]:
    """Code in a fifth of the notes, a table in a tenth, a quote in a tenth, a block id in a twentieth."""
    found = []
    if random.random() < 0.2:
        found.append(f"```python\ndef {identifier}(x):\n    return x.{topic[2]}({topic[3]})\n```")
    if random.random() < 0.1:
        found.append(f"| {topic[9]} | {topic[10]} |\n|---|---|\n| {topic[11]} | {random.randrange(1_000)} |")
    if random.random() < 0.1:
        found.append(f"> [!note] {topic[12]}\n> {topic[13]} {topic[14]}")
    if random.random() < 0.05:
        found.append(f"{topic[15]} {topic[16]} ^block-{number}")
    return found


def make_queries(notes: Sequence[Note], count: int, seed: int) -> list[LABEL]:
    """Labels over `notes`, in a fixed mixture of kinds: of twenty, nine known items and one that nothing answers."""
    random = Random(f"{seed}/queries")
    return [_query(random, notes, number) for number in range(count)]


def _query(random: Random, notes: Sequence[Note], number: int) -> LABEL:
    note, other = notes[number % len(notes)], notes[(number * 7 + 1) % len(notes)]
    kind, pages = number % 20, [note.page]
    if kind < 9:
        category, query = "known-item", " ".join(random.sample(note.topic[:12], random.randint(2, 5)))
    elif kind < 13:
        start = random.randrange(len(note.words) - 14)
        plain = (one for one in note.words[start : start + random.randint(5, 10)] if "[[" not in one and "|" not in one)
        category, query = "natural", f"how do i {' '.join(plain)}?"
    elif kind < 15:
        category, query = "identifier", note.identifier
    elif kind < 17:
        category, query, pages = "several-pages", f"{note.topic[0]} {other.topic[0]}", sorted({note.page, other.page})
    elif kind < 18:
        category, query = "title", note.title
    elif kind < 19:
        category, query = "japanese", note.japanese[41:47] or f"{note.topic[0]} {note.topic[9]}"
    else:
        category, query, pages = "negative", f"zzqx{number} xxvq{number * 3}", []
    return {"id": f"q{number:05d}", "query": query, "expected_pages": list(pages), "category": category}


def write_set(out: Path, notes: int, queries: int, seed: int) -> str:
    """The SHA-256 over pages and bytes of the vault written to `out`, which must not exist or be empty (FileExistsError)."""
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} is not empty; name a new folder")
    generator, digest = Generator(seed), hashlib.sha256()
    asked: list[Note] = []
    step = max(1, notes // max(1, queries))
    for number in range(notes):
        note = generator.note(number)
        data = note.text.encode("utf-8")
        place = out / "vault" / note.page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        digest.update(f"{note.page}\n{len(data)}\n".encode() + data)
        if number % step == 0 and len(asked) < queries:
            asked.append(note)
    (out / "vault" / ".obsidian").mkdir(parents=True)
    (out / "vault" / ".obsidian" / "app.json").write_text("{}\n", encoding="utf-8")
    _write_labels(out, make_queries(asked, queries, seed))
    return digest.hexdigest()


def _write_labels(out: Path, labels: Sequence[LABEL]) -> None:
    parts = [labels[start : start + QUERIES_MAX_OF_A_FILE] for start in range(0, len(labels), QUERIES_MAX_OF_A_FILE)]
    for number, part in enumerate(parts, start=1):
        text = json.dumps({"schema": SCHEMA, "queries": part}, ensure_ascii=False, indent=1)
        name = "queries.json" if len(parts) == 1 else f"queries-{number}.json"
        (out / name).write_text(text + "\n", encoding="utf-8")


def main() -> int:
    """Write one set and say what it is; 2 where the folder is not empty."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT", type=Path, help="a new folder")
    parser.add_argument("--notes", metavar="N", type=int, default=1_000)
    parser.add_argument("--queries", metavar="N", type=int, default=1_000)
    parser.add_argument("--seed", metavar="S", type=int, default=7)
    options = parser.parse_args()
    if options.notes < 1 or options.queries < 0:
        parser.error("--notes takes 1 or more, --queries 0 or more")
    try:
        sha256 = write_set(options.out, options.notes, options.queries, options.seed)
    except FileExistsError as error:
        print(f"generate_vault: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"notes": options.notes, "queries": options.queries, "seed": options.seed, "sha256": sha256}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
