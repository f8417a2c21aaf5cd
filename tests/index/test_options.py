"""Index options: kept in the header, remembered, typed again by a person."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval import strict_json
from vault_eval.errors import UsageError
from vault_eval.index.options import ChunkSizes, IndexOptions, checked_options, options_from_json

GLOBS = st.text(alphabet="ab*?/-. 潮'\"$", min_size=1, max_size=12).filter(
    lambda glob: (
        glob.count("*") <= 8 and glob != "--"
    )  # which argparse, up to Python 3.12, takes for the end of the options even in --exclude=--
)
OPTIONS = st.integers(50, 100_000).flatmap(
    lambda target: st.builds(
        lambda maximum, overlap, prefix, stem, exclude: checked_options(target, maximum, overlap, prefix, stem, tuple(exclude)),
        st.integers(target, 100_000),
        st.integers(0, target // 2),
        st.sampled_from(["synthetic", "none"]),
        st.sampled_from([None, "none", "english", "turkish"]),
        st.lists(GLOBS, max_size=3),
    )
)


@given(OPTIONS)
def test_options_come_back_from_json(options):
    assert options_from_json(strict_json.loads(strict_json.dumps(options.as_json()))) == options


@given(OPTIONS)
def test_options_come_back_from_the_command_line(options):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    default = IndexOptions()
    parser.add_argument("--chunk-chars", type=int, default=default.sizes.target)
    parser.add_argument("--chunk-max", type=int, default=default.sizes.maximum)
    parser.add_argument("--overlap", type=int, default=default.sizes.overlap)
    parser.add_argument("--prefix", default=default.prefix)
    parser.add_argument("--stem", default=default.stem)
    parser.add_argument("--exclude", action="append", default=[])
    typed = parser.parse_args(options.as_arguments())
    sizes = (typed.chunk_chars, typed.chunk_max, typed.overlap)
    assert checked_options(*sizes, typed.prefix, typed.stem, tuple(typed.exclude)) == options


def test_defaults_need_no_arguments():
    assert IndexOptions().as_arguments() == []


def test_every_option_tells_indexes_apart():
    base = IndexOptions()
    others = [
        IndexOptions(ChunkSizes(target=1000)),
        IndexOptions(ChunkSizes(maximum=5000)),
        IndexOptions(ChunkSizes(overlap=0)),
        IndexOptions(prefix="none"),
        IndexOptions(stem="english"),
        IndexOptions(exclude=("Templates",)),
    ]
    assert len({strict_json.dumps(one.as_json()) for one in (base, *others)}) == 7


@pytest.mark.parametrize(
    ("target", "maximum", "overlap", "said"),
    [
        (49, 4000, 10, "50 <= chunk-chars"),
        (4001, 4000, 10, "chunk-chars <= chunk-max"),
        (2000, 100_001, 10, "chunk-max <= 100,000"),
        (2000, 4000, 1001, "0 to half of --chunk-chars, which is 1000"),
        (2000, 4000, -1, "0 to half"),
        (True, 4000, 0, "50 <= chunk-chars"),
        (2000, 4000, True, "whole numbers"),
        (2000.5, 4000, 0, "whole numbers"),
        ("2000", 4000, 0, "whole numbers"),
        (None, None, None, "whole numbers"),
    ],
)
def test_sizes_out_of_bounds_are_refused(target, maximum, overlap, said):
    with pytest.raises(UsageError, match=said):
        checked_options(target, maximum, overlap, "synthetic", None, ())


@pytest.mark.parametrize("sizes", [(50, 50, 0), (50, 50, 25), (100_000, 100_000, 50_000)])
def test_the_bounds_themselves_are_allowed(sizes):
    assert checked_options(*sizes, "synthetic", None, ()).sizes == ChunkSizes(*sizes)


def test_an_unknown_prefix_is_refused():
    with pytest.raises(UsageError, match="--prefix 'llm': allowed are synthetic and none"):
        checked_options(2000, 4000, 200, "llm", None, ())


@pytest.mark.parametrize("damaged", [None, [], "x", {"exclude": "Private"}, {"exclude": [1]}, {"exclude": None}])
def test_damaged_options_are_refused_rather_than_guessed(damaged):
    with pytest.raises(UsageError, match="damaged"):
        options_from_json(damaged)


def test_a_glob_that_could_try_for_ever_is_refused():
    with pytest.raises(UsageError, match="at most 8 stars"):
        checked_options(2000, 4000, 200, "synthetic", None, ("a**" * 20 + "c",))
