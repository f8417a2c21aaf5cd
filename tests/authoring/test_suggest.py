from __future__ import annotations

import json

import pytest

from vault_eval.authoring.note_links import links
from vault_eval.authoring.questions import is_question, stands_alone
from vault_eval.authoring.suggest import read_material, suggest
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.write import native_json
from vault_eval.model import LabelSet
from vault_eval.vault.snapshot import open_snapshot
from vault_eval.vault.targets import target_text


@pytest.fixture
def found(folder):
    """What is suggested: (query, gold, origin) of each, and what was left out."""

    def run(failed=(), transcript="", labelled=(), limit=100):
        with open_snapshot(str(folder)) as vault:
            return suggest(read_material(vault, failed, transcript), labelled, limit)

    return run


def rows(found):
    return [(one.label.query, *map(target_text, one.label.gold), one.label.origin) for one in found.shown]


def test_link_text_names_its_target_and_the_line_it_stands_on(found, write):
    write("Recovery.md", "# Steps\ntext\n")
    write(
        "Log.md",
        "---\na: 1\n---\nsee [[Recovery|how to resume interrupted writes]]\nand [what was lost last May](Recovery.md#steps)\n",
    )
    assert rows(found()) == [
        ("how to resume interrupted writes", "Recovery.md", "link text in Log.md:4"),
        ("what was lost last May", "Recovery.md#Steps", "link text in Log.md:5"),
    ]


def test_markdown_links_lead_where_obsidian_leads_them(found, write):
    write("Sea/High water.md")
    write("Sea/Log/May.md", "[the day we ran aground](../High%20water.md) [a second such day there](<High water.md>)\n")
    assert [row[1] for row in rows(found())] == ["Sea/High water.md"]  # the second says "there", so it does not stand alone
    write("Sea/Log/June.md", "[the night we nearly sank](<High water.md>)\n")
    assert ("the night we nearly sank", "Sea/High water.md", "link text in Sea/Log/June.md:1") in rows(found())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[Recovery|Recovery plan]]", "it is too short to tell one note from another"),
        ("[[Recovery|The recovery of writes]]", "it only repeats a name of the note or section"),
        ("[[Recovery#First steps|the first steps]]", "it only repeats a name of the note or section"),
        ("[[Nowhere|how to resume interrupted writes]]", "the link leads to no note, or to several"),
        ("[[Twin|how to resume interrupted writes]]", "the link leads to no note, or to several"),
        ("[[Log|how to resume interrupted writes]]", "the link leads to its own note"),
        ("[[Recovery|may need updating soon]]", "it says nothing away from its place"),
        ("[[Recovery|more about this question]]", "it says nothing away from its place"),
        ("[[Recovery|writes that failed once]] [[A/Twin|writes that failed once]]", "it names several notes"),
        ("[[Recovery|see https://example.org for writes]]", "it is no query: an address, or too long"),
    ],
)
def test_what_makes_no_label_is_left_out_and_counted(found, write, text, reason):
    write("Recovery.md", "---\ntitle: Recovery of writes\n---\n# First steps\ntext\n")
    write("A/Twin.md")
    write("B/Twin.md")
    write("Log.md", text)
    result = found()
    assert rows(result) == []
    assert set(result.left_out) == {reason}


@pytest.mark.parametrize("query", ["???", "…", "\u0e34" * 6, "-"])
def test_query_without_terms_is_too_short_and_no_two_suggestions_share_an_id(found, write, query):
    write("Anchor.md", f'---\naliases: ["{query}"]\n---\n')
    result = found(failed=[query, "where is the anchor", query])
    assert rows(result) == [("where is the anchor", "failed search, line 2")]
    assert result.left_out["it is too short to tell one note from another"] == 3


def test_links_in_code_and_embedded_notes_are_no_links():
    text = "`[[A|b c d]]` ![[A|b c d]]\n```\n[[A|b c d]]\n```\n~~~\n```\n[[A|x]]\n~~~\n| [[A\\|in a table]] |\n[x](https://a.b) [y](#z)\n"
    assert [(link.text, link.target, link.line) for link in links(text, 0)] == [("in a table", "A", 9)]


def test_backticks_that_nothing_closes_hide_no_link_and_take_no_time():
    assert [link.text for link in links("see ``` [[A|one two]] `x` ``[[A|code]]`` ` [[A|three]]", 0)] == ["one two", "three"]
    runs = " ".join("`" * length for length in range(1, 600))  # tried at every place they would take minutes
    assert list(links(f"see {runs}", 0)) == []


def test_what_a_client_inserts_is_nobodys_question_unless_it_is_never_closed(found, write):
    write("A.md")
    transcript = session(
        {"type": "user", "message": {"content": "<x>" * 5000 + "<note>Is a tag here?</note>\nWhere is the rope?"}}
    )
    assert [one.label.query for one in found(transcript=transcript).shown] == ["Where is the rope?"]


def test_alias_is_a_name_and_says_more_than_the_title(found, write):
    write("Kubernetes.md", "---\naliases: [container_herding at night, Kubernetes, k8s, Ops/Kubernetes, 'a b, c d']\n---\n")
    write("锂电池充电.md", "---\naliases: 手机续航\n---\n")
    result = found()
    assert rows(result) == [
        ("container herding at night", "Kubernetes.md", "alias of Kubernetes.md"),
        ("手机续航", "锂电池充电.md", "alias of 锂电池充电.md"),
    ]
    assert result.left_out == {
        "it is too short to tell one note from another": 2,
        "the alias is a path, or a list of several in one text": 2,
    }


def test_heading_that_asks_names_its_section(found, write):
    write(
        "Dock.md",
        "## 2. Where does the *diesel* come from?\nThe barge.\n## How to set it up\ntext\n## When do boats leave harbour?\n## Prices\n",
    )
    result = found()
    assert rows(result) == [
        ("Where does the diesel come from?", "Dock.md#2. Where does the diesel come from?", "heading in Dock.md:1")
    ]
    assert result.left_out == {"it says nothing away from its place": 1, "the question has no text below it": 1}


def test_failed_searches_have_no_page_until_their_owner_names_one(found, write):
    write("A.md")
    result = found(failed=["- fuel price 2024", "", "rope"])
    assert [(one.label.query, one.label.gold, one.label.origin) for one in result.shown] == [
        ("fuel price 2024", (), "failed search, line 1"),
        ("rope", (), "failed search, line 3"),
    ]
    assert all(one.label.skip_reason for one in result.shown)  # an empty list alone would claim that no page answers


def session(*events: dict) -> str:
    return "\n".join(json.dumps(event) for event in events)


def test_questions_of_a_person_are_taken_from_a_session(found, write):
    write("A.md")
    transcript = session(
        {"type": "user", "message": {"content": "Look at this. Where did I write about the mooring chain? Thanks."}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "Shall I search the vault for it?"}]}},
        {"type": "user", "isMeta": True, "message": {"content": "Was this asked by the machine?"}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "Is a result a question?"}]}},
        {
            "type": "user",
            "message": {"content": [{"type": "text", "text": "<note>Is a tag a question?</note>how to splice rope"}]},
        },
    )
    assert [(one.label.query, one.label.origin) for one in found(transcript=transcript).shown] == [
        ("Where did I write about the mooring chain?", "transcript, line 1"),
        ("how to splice rope", "transcript, line 5"),
    ]


def test_questions_of_a_person_are_taken_from_plain_text(found, write):
    write("A.md")
    transcript = "User: What is the berth depth?\nAssistant: Which berth do you mean?\nI will look. 锂电池怎么充电？\n"
    assert [one.label.query for one in found(transcript=transcript).shown] == ["What is the berth depth?", "锂电池怎么充电？"]


def test_near_duplicates_and_labelled_queries_are_left_out(found, write):
    write("Dock.md", "## Where does the diesel come from?\nx\n")
    write("Dock 2.md", "## Where are ropes kept in winter?\nx\n")
    result = found(failed=["where does the diesel come from"], labelled=["where are the ropes kept in winter"])
    assert [one.label.query for one in result.shown] == ["where does the diesel come from"]
    assert result.left_out == {"it is nearly the same as another": 1, "it has a label already": 1}


def test_every_suggestion_says_what_it_is_and_loads_as_a_label_file(found, write):
    write("Dock.md", "---\naliases: Diesel pontoon berth\n---\n## Where does the diesel come from?\nx\n")
    shown = found(failed=["rope locker"]).shown
    assert [one.label.tags for one in shown] == [
        ("silver", "silver-alias"),
        ("silver", "silver-failed-search"),
        ("silver", "silver-question-heading"),
    ]
    text = native_json(LabelSet(tuple(one.label for one in shown), ()))
    loaded = load_labels([LabelDocument("S.json", text.encode(), None, list)]).labels
    assert [label.query for label in loaded] == [one.label.query for one in shown]


def test_a_limit_takes_as_many_from_each_source_and_the_same_ones_each_time(found, write):
    for number in range(20):
        write(
            f"Dock {number}.md",
            f"---\naliases: Pontoon number {number} of {number * 7}\n---\n## Where is rope {number} kept by {number * 3}?\nx\n",
        )
    first, again = found(limit=10), found(limit=10)
    assert rows(first) == rows(again)
    assert [one.source for one in first.shown] == ["alias"] * 5 + ["question_heading"] * 5
    assert first.usable["alias"] > 5


def test_label_notes_suggest_nothing(found, write):
    write("Labels.md", "---\nschema: vault-eval.labels.v1\nqueries: []\n---\n## Where does the diesel come from?\nx\n")
    assert rows(found()) == []


@pytest.mark.parametrize(
    ("text", "asks", "alone"),
    [
        ("How to splice rope", True, True),
        ("how do I splice rope", True, True),
        ("splice rope", False, True),
        ("Why provide this?", True, False),
        ("Who is affected?", True, False),
        ("ماذا يوجد هنا؟", True, True),
        ("如何维护这个系统？", True, False),
        ("However rope splices", False, True),
        ("How can I find tasks that fail?", True, True),
        ("How to do that", True, False),
    ],
)
def test_questions_and_what_stands_alone(text, asks, alone):
    assert (is_question(text), stands_alone(text)) == (asks, alone)
