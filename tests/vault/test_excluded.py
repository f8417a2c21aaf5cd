from __future__ import annotations

import json
import re
import time
import warnings

import pytest

from vault_eval.errors import UsageError
from vault_eval.limits import OBSIDIAN_CONFIG_MAX_BYTES
from vault_eval.vault.excluded import read_exclusions
from vault_eval.vault.walk import walk_vault


@pytest.fixture
def excluded(write, reader):
    """The rules that come of a list of Obsidian's filters."""

    def rules(*filters: object, globs: tuple[str, ...] = ()):
        write(".obsidian/app.json", json.dumps({"userIgnoreFilters": filters, "promptDelete": False}))
        return read_exclusions(reader, globs)

    return rules


def config_warnings(write, reader, text):
    write(".obsidian/app.json", text)
    exclusions = read_exclusions(reader)
    assert exclusions.rules == ()
    return exclusions.warnings


def test_without_a_config_nothing_is_excluded(reader):
    assert (read_exclusions(reader).rules, read_exclusions(reader).warnings) == ((), ())


@pytest.mark.parametrize(
    ("rule", "page", "matches"),
    [
        ("Templates/", "Templates/Daily.md", True),
        ("Templates/", "templates/daily.md", True),
        ("Templates/", "My Templates/Daily.md", False),
        ("Templates/", "Templates.md", False),
        ("Temp", "Templates/Daily.md", True),
        ("Note.md", "Note.md", True),
        ("a.b", "axb.md", False),
        ("Cafe\u0301/", "Café/Note.md", True),
        ("/^Archive/", "Archive 2019/Note.md", True),
        ("/^archive/", "Archive/Note.md", True),
        ("/draft/", "Sea/My Draft.md", True),
        (r"/\d{4}-\d{2}/", "Log/2025-03-11.md", True),
        ("/^Sea$/", "Sea/Tides.md", False),
        ("/", "Sea/Tides.md", False),
        ("//", "Sea/Tides.md", True),  # an empty expression is in every path
        ("/caf[e\u0301é]/", "café.md", True),
    ],
)
def test_obsidian_filter(excluded, rule, page, matches):
    assert (excluded(rule).reason(page) is not None) == matches
    assert excluded(rule).warnings == ()


@pytest.mark.parametrize("page", ["Sea/Tides.md", "Sea/deep/Tides.md"])
def test_first_rule_that_matches_is_the_reason(excluded, page):
    rules = excluded("Garden/", "/^sea/", globs=("Sea",))
    assert rules.reason(page) == "excluded in Obsidian: /^sea/"
    assert rules.reason("Garden.md") is None


@pytest.mark.parametrize(
    "pattern", ["/[/", "/(?<year>\\d)/", "/a{99999999999}/", "/" + "(" * 2_000 + ")" * 2_000 + "/", "/*/", r"/(a)\1/"]
)
def test_pattern_that_is_not_understood_is_a_short_warning(excluded, pattern):
    rules = excluded(pattern, "Templates/")
    assert rules.reason("Templates/Daily.md") is not None
    assert rules.reason("Sea/Tides.md") is None
    assert len(rules.warnings) == 1
    assert re.match(
        r"\.obsidian/app\.json: the excluded-files pattern '.*is not understood .*; it was ignored", rules.warnings[0]
    )
    assert len(rules.warnings[0]) < 300


def test_pattern_that_doubles_its_time_with_every_letter_is_used_and_takes_none(excluded):
    rules = excluded(r"/^(\w+\s?)*$/")
    started = time.monotonic()
    assert rules.reason("only words and blanks " * 10) == r"excluded in Obsidian: /^(\w+\s?)*$/"
    assert rules.reason("only words and blanks " * 10 + ".md") is None
    assert time.monotonic() - started < 2
    assert rules.warnings == ()


def test_pattern_that_python_may_read_otherwise_some_day_warns_nobody(excluded):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert excluded("/[[a]/").reason("a.md") is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "holds no JSON object"),
        ("null", "holds no JSON object"),
        ('{"userIgnoreFilters": "Templates/"}', "userIgnoreFilters is no list"),
        ('{"userIgnoreFilters": {}}', "userIgnoreFilters is no list"),
        ('{"userIgnoreFilters": [7, null, ["a"]]}', "3 excluded files are no text"),
        ('{"userIgnoreFilters": [], "userIgnoreFilters": []}', "repeated"),
        ("[" * 5_000 + "]" * 5_000, "nested deeper"),
        ("\ufeff\ufeff{}", "not JSON"),
    ],
)
def test_config_that_says_nothing_certain_is_a_warning(write, reader, text, words):
    (warning,) = config_warnings(write, reader, text)
    assert words in warning
    assert ".obsidian/app.json" in warning


@pytest.mark.parametrize(
    "text", ["{}", '{"userIgnoreFilters": null}', '{"userIgnoreFilters": []}', '\ufeff{"userIgnoreFilters": [""]}']
)
def test_config_without_filters_is_well(write, reader, text):
    assert config_warnings(write, reader, text) == ()


def test_config_in_another_encoding_is_a_warning(vault, write, reader):
    write(".obsidian/app.json").write_bytes(b'{"userIgnoreFilters": ["\xe9"]}')
    assert "Obsidian's excluded files are unknown" in read_exclusions(reader).warnings[0]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_config_behind_a_link_is_not_followed_and_a_warning(vault, write, reader, what):
    write("real/app.json", '{"userIgnoreFilters": ["Sea/"]}')
    if what == "folder":
        (vault / ".obsidian").symlink_to("real")
    else:
        (vault / ".obsidian").mkdir()
        (vault / ".obsidian" / "app.json").symlink_to("../real/app.json")
    exclusions = read_exclusions(reader)
    assert exclusions.rules == ()
    assert "excluded files are unknown" in exclusions.warnings[0]
    assert "link" in exclusions.warnings[0]


def test_config_over_its_limit_is_a_warning(write, reader):
    write(".obsidian/app.json", "{}" + " " * (OBSIDIAN_CONFIG_MAX_BYTES - 2))
    assert read_exclusions(reader).warnings == ()
    write(".obsidian/app.json", "{}" + " " * (OBSIDIAN_CONFIG_MAX_BYTES - 1))
    assert "1,048,577 bytes" in read_exclusions(reader).warnings[0]


@pytest.mark.parametrize(
    ("glob", "page", "matches"),
    [
        ("Templates", "Templates/Daily.md", True),
        ("Templates/", "Templates/Deep/Daily.md", True),
        ("/Templates", "Templates/Daily.md", True),
        ("Templates", "Other/Templates/Daily.md", False),
        ("Templates", "Templates.md", False),
        ("*.md", "Tides.md", True),
        ("*.md", "Sea/Tides.md", False),
        ("**/*.md", "Tides.md", True),
        ("**/*.md", "a/b/Tides.md", True),
        ("**/Daily.md", "Sea/Not Daily.md", False),
        ("Sea/**", "Sea/a/b.md", True),
        ("Sea/**/b.md", "Sea/b.md", True),
        ("Sea/**/b.md", "Sea/x/y/b.md", True),
        ("Se?", "Sea/Tides.md", True),
        ("Se?", "Se/a.md", False),
        ("Sea/*", "Sea/deep/Tides.md", True),  # the folder `deep` matches, and all below it goes with it
        ("[a].md", "a.md", False),
        ("[a].md", "[a].md", True),
        ("a+b (1).md", "a+b (1).md", True),
        ("sea", "Sea/Tides.md", False),
        ("Cafe\u0301*", "Café au lait.md", True),
        ("two*", "two\nlines.md", True),
        ("", "Tides.md", False),
    ],
)
def test_glob(reader, glob, page, matches):
    assert read_exclusions(reader, [glob]).reason(page) == (f"excluded: {glob}" if matches else None)


def test_as_many_stars_as_are_allowed_are_matched_quickly(reader):
    assert read_exclusions(reader, ["**/".join("ababa")]).reason("a/" * 60 + "c.md") is None


def test_glob_of_more_stars_becomes_no_rule(reader):
    with pytest.raises(UsageError, match=r"the glob '(\*a){12}b': at most 8 stars are allowed; write several globs"):
        read_exclusions(reader, ["*a" * 12 + "b"])


def test_excluded_notes_are_listed_apart_with_the_rule(write, reader):
    write(".obsidian/app.json", '{"userIgnoreFilters": ["Templates/", "/[/"]}')
    write("Templates/Daily.md")
    write("Archive/Cafe\u0301.md")
    write("Tides.md")
    listing = walk_vault(reader, read_exclusions(reader, ["Archive"]))
    assert [note.page for note in listing.notes] == ["Tides.md"]
    assert [(one.path, one.reason) for one in listing.excluded] == [
        ("Archive/Café.md", "excluded: Archive"),
        ("Templates/Daily.md", "excluded in Obsidian: Templates/"),
    ]
    assert len(listing.warnings) == 1
