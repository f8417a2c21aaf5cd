from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.authoring.changes import Change, new_label_file, new_label_note
from vault_eval.errors import UsageError

LONG = [f'  {{"id": "boat-{number}", "query": "boat in winter", "hashes": {{"Boat.md": "{"ab" * 200}"}}}}' for number in range(3)]


def diff(before, after):
    return list(Change("/", "L.json", before and "\n".join(before).encode(), "\n".join(after).encode()).diff())


def test_file_that_is_not_there_comes_from_nothing():
    assert diff(None, ["a", "b"]) == ["--- /dev/null", "+++ b/L.json", "@@ -1,0 +1,2 @@", "+a", "+b"]


def test_change_at_the_end_of_a_long_line_is_shown_with_what_names_the_line():
    shown = diff(LONG, [f'{line[:-1]}, "split": "dev"}}' for line in LONG])
    assert max(map(len, shown)) < 150
    for number in range(3):
        (old,) = (line for line in shown if line.startswith(f'-  {{"id": "boat-{number}"'))
        (new,) = (line for line in shown if line.startswith(f'+  {{"id": "boat-{number}"'))
        assert (old.endswith('ab"}}'), new.endswith('ab"}, "split": "dev"}'), " … " in new) == (True, True, True)


def test_change_at_the_beginning_of_a_long_line_leaves_its_end_out():
    shown = diff([LONG[0]], [LONG[0].replace("boat-0", "boat")])
    assert [line[:24] for line in shown[3:]] == ['-  {"id": "boat-0", "que', '+  {"id": "boat", "query']
    assert max(map(len, shown)) < 100


def test_long_line_beside_a_change_is_cut_and_a_new_one_is_whole():
    shown = diff([*LONG, "]"], [*LONG, "new" * 100, "]"])
    assert [len(line) < 120 for line in shown[3:6]] == [True] * 3
    assert "+" + "new" * 100 in shown


LINES = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=3)


@given(LINES, LINES)
def test_lines_without_their_signs_are_the_file_before_and_the_one_after(before, after):
    """Of three lines all stand beside a change."""
    lines = [line for line in diff(before, after)[2:] if not line.startswith("@@")]
    shown = [[line[1:] for line in lines if line[0] in signs] for signs in (" -", " +")]
    assert shown == ([[], []] if before == after else [before, after])


def test_first_label_file_is_json():
    assert json.loads(new_label_file("/x/L.JSON", "{}", "/vault").after) == {}
    with pytest.raises(UsageError, match=r"end its name in \.json"):
        new_label_file("/x/L.md", "", "/vault")


@pytest.mark.parametrize("path", [".obsidian/L", "Sea/.trash/L", ".L", "Sea/../.obsidian/L"])
def test_nothing_new_is_made_in_a_hidden_place_of_the_vault(tmp_path, path):
    vault = tmp_path / ".vaults" / "Notes"
    with pytest.raises(UsageError, match="hidden file or folder, which is not part of the vault"):
        new_label_file(f"{vault}/{path}.json", "", str(vault))
    if ".." not in path:
        with pytest.raises(UsageError, match="hidden file or folder, which is not part of the vault"):
            new_label_note(f"{path}.md", "", str(vault))


def test_hidden_folders_outside_the_vault_are_anybodys(tmp_path):
    vault = tmp_path / ".vaults" / "Notes"
    for place in (f"{vault}.json", f"{tmp_path}/.config/L.json"):
        assert new_label_file(place, "", str(vault)).place == place
    assert new_label_note("Sea/L.md", "", str(vault)).place == f"{vault}/Sea/L.md"
