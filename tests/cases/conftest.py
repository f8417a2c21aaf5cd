"""Runs the cases that were collected in a few threads, since each of them waits for other processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from case_input import LABELS, lay_out, load_cases
from case_program import Bench, Program
from case_steps import outcome_of


@pytest.fixture(scope="session")
def program(tmp_path_factory) -> Iterator[Program]:
    program = Program(tmp_path_factory.mktemp("data"))
    yield program
    program.close()


@pytest.fixture(scope="session")
def outcomes(request, program, tmp_path_factory) -> Iterator[dict[str, Future[list[str]]]]:
    """Everything that is wrong with each case that will be tested, by its id; all of them run in the background."""
    wanted = [item.callspec.params["case"] for item in request.session.items if "case" in getattr(item, "fixturenames", ())]
    folder = tmp_path_factory.mktemp("cases")
    with ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
        yield {case["id"]: pool.submit(outcome_of, case, _bench(program, case, folder / case["id"])) for case in wanted}


@pytest.fixture
def lay(program, tmp_path) -> Callable[[str], Bench]:
    """Lays out one case by its id."""

    def laid(name: str) -> Bench:
        case = load_cases()[name]
        lay_out(case, tmp_path)
        return _bench(program, case, tmp_path)

    return laid


@pytest.fixture(scope="session")
def built(program, tmp_path_factory) -> Callable[[str], Bench]:
    """Lays out one case and builds its index, once for all tests that leave both as they are."""
    benches: dict[str, Bench] = {}

    def once(name: str) -> Bench:
        if name not in benches:
            case = load_cases()[name]
            benches[name] = _bench(program, case, tmp_path_factory.mktemp(name))
            lay_out(case, benches[name].folder)
            assert benches[name].index().code == 0
        return benches[name]

    return once


def _bench(program: Program, case: dict[str, object], folder: Path) -> Bench:
    return Bench(program, folder, str(case.get("vault", "vault")), str(case.get("labels", LABELS)))
