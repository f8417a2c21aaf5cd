"""Bytes that are other bytes: flips, cuts and swapped parts of index, seal and states. Nothing damaged may be trusted."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random

from fault_injection.workspace import Row, Workspace, build, command, evaluate, figures, lay_out

_HEAD_BYTES = 44  # magic, length of the header, its digest
_QUERY = "drain pump in frost"


def damage(folder: Path, size: float, seed: int) -> list[Row]:
    """Every row of this module; `size` 1.0 takes about a minute."""
    rng = Random(f"damage:{seed}")
    folder.mkdir(parents=True)
    workspace = lay_out(folder)
    build(workspace)
    whole = folder / "whole"
    shutil.copytree(workspace.index, whole)
    right = figures(workspace)
    index, seal, states = _file(whole), whole / "seal.json", whole / "states.json"
    rows = [
        _sections(workspace, index, rng, right, "keyword"),
        _sections(workspace, index, rng, evaluate(workspace, "title").figures, "title"),
        _flips("a bit flipped in the index file", workspace, index, rng, int(900 * size), right),
        _flips("a bit flipped in the seal", workspace, seal, rng, max(40, int(800 * size)), right),
        _flips("a bit flipped in the states", workspace, states, rng, int(500 * size), right),
        _cuts("the index file cut short", workspace, index, rng, int(150 * size), right),
        _cuts("the seal cut short", workspace, seal, rng, int(150 * size), right),
        _cuts("the states cut short", workspace, states, rng, int(80 * size), right),
        _grown(workspace, (index, seal, states), rng, int(60 * size), right),
        _swaps(workspace, folder),
        _searches(workspace, index, rng, int(400 * size)),
    ]
    shutil.rmtree(folder)
    return rows


def _file(folder: Path) -> Path:
    return next(folder.glob("index-*.bin"))


def _flips(name: str, workspace: Workspace, whole: Path, rng: Random, count: int, right: str) -> Row:
    row = Row(name)
    data = whole.read_bytes()
    for _ in range(max(10, count)):
        at, bit = rng.randrange(len(data)), rng.randrange(8)
        _try(row, workspace, whole, data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :], right, f"byte {at} bit {bit}")
    return row


def _sections(workspace: Workspace, whole: Path, rng: Random, right: str, retriever: str) -> Row:
    """The header, and each section however short, searched by one that needs the index and by one that only looks at it."""
    row = Row(f"a bit flipped in each section of the index, {retriever}")
    data = whole.read_bytes()
    header = json.loads(data[_HEAD_BYTES : _HEAD_BYTES + int.from_bytes(data[8:12], "little")])
    places = [("the header", _HEAD_BYTES, 200), *((name, offset, size) for name, (offset, size, _) in header["sections"].items())]
    for name, offset, size in places:
        for at in {offset, offset + size // 2, offset + size - 1} if size else ():
            damaged = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
            _try(row, workspace, whole, damaged, right, f"{name}, byte {at - offset}", retriever)
    return row


def _cuts(name: str, workspace: Workspace, whole: Path, rng: Random, count: int, right: str) -> Row:
    row = Row(name)
    data = whole.read_bytes()
    for at in [0, 1, len(data) - 1, *(rng.randrange(len(data)) for _ in range(max(5, count)))]:
        _try(row, workspace, whole, data[:at], right, f"cut at {at}")
    return row


def _grown(workspace: Workspace, files: tuple[Path, ...], rng: Random, count: int, right: str) -> Row:
    row = Row("bytes added at the end of each")
    for _ in range(max(2, count)):
        for whole in files:
            added = rng.choice((b"\n", b"\0" * 64, b"}", rng.randbytes(9)))
            _try(row, workspace, whole, whole.read_bytes() + added, right, f"{whole.name} + {added!r}")
    return row


def _try(row: Row, workspace: Workspace, whole: Path, data: bytes, right: str, what: str, retriever: str = "keyword") -> None:
    """One damaged file; exit 10, or the right result where nothing that counts was damaged."""
    place = workspace.index / whole.name
    place.write_bytes(data)
    answer = evaluate(workspace, retriever)
    place.write_bytes(whole.read_bytes())
    if answer.code == 10 and not answer.figures:
        row.took("exit 10")
    elif answer.code == 0 and answer.figures == right:
        row.took("the right result")
    else:
        row.lose(f"{whole.name}, {what}: exit {answer.code} {answer.said[:200]}")


def _swaps(workspace: Workspace, folder: Path) -> Row:
    """Parts of another valid index of the same vault, and of another vault, in the place of ours."""
    row = Row("parts swapped with another valid index")
    ours = folder / "ours"
    shutil.copytree(workspace.index, ours)
    results = {figures(workspace)}
    build(workspace, "--chunk-chars", "120", "--chunk-max", "400", "--overlap", "20")
    same_vault = folder / "same vault"
    shutil.move(workspace.index, same_vault)
    shutil.copytree(same_vault, workspace.index)
    results.add(figures(workspace))
    (folder / "elsewhere").mkdir()
    stranger = lay_out(folder / "elsewhere")
    stranger.write("Machines/Derrick.md", "lifting heavy freight\n")
    build(stranger)
    for other in (same_vault, stranger.index):
        for parts in (("seal",), ("index",), ("states",), ("seal", "states"), ("seal", "index"), ("index", "states")):
            _swap(row, workspace, ours, other, parts, results)
        _swap_bytes_under_our_name(row, workspace, ours, other, results)
    return row


def _swap(row: Row, workspace: Workspace, ours: Path, other: Path, parts: tuple[str, ...], results: set[str]) -> None:
    _lay_index(workspace, ours)
    for part in parts:
        if part == "index":
            _file(workspace.index).unlink()
            shutil.copy(_file(other), workspace.index)
        else:
            shutil.copy(other / f"{part}.json", workspace.index)
    _judge(row, workspace, results, f"{' and '.join(parts)} of {other.name}")


def _swap_bytes_under_our_name(row: Row, workspace: Workspace, ours: Path, other: Path, results: set[str]) -> None:
    _lay_index(workspace, ours)
    shutil.copy(_file(other), _file(workspace.index))
    _judge(row, workspace, results, f"bytes of {other.name} under our name")


def _lay_index(workspace: Workspace, ours: Path) -> None:
    shutil.rmtree(workspace.index)
    shutil.copytree(ours, workspace.index)


def _judge(row: Row, workspace: Workspace, results: set[str], what: str) -> None:
    answer = evaluate(workspace)
    if answer.code == 10:
        row.took("exit 10")
    elif answer.figures in results:
        row.took("the right result of one of the two")
    else:
        row.lose(f"{what}: exit {answer.code} {answer.said[:200]}")


def _searches(workspace: Workspace, whole: Path, rng: Random, count: int) -> Row:
    """`retrieve` checks header and bounds only, by design: a flip may change its answer, but never end it in a fault."""
    row = Row("a bit flipped in the index file, retrieve")
    shutil.rmtree(workspace.index)
    shutil.copytree(whole.parent, workspace.index)
    places = ["--vault", str(workspace.vault), "--index", str(workspace.index), "--data", str(workspace.data)]
    argv = ["retrieve", *places, "--explain", "--", _QUERY]
    right = command(argv)[1]
    data = whole.read_bytes()
    for _ in range(max(20, count)):
        at, bit = rng.randrange(len(data)), rng.randrange(8)
        (workspace.index / whole.name).write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
        code, out, said = command(argv)
        if code == 10:
            row.took("exit 10")
        elif code == 0:
            row.took("the right answer" if out == right else "another answer (not verified, by design)")
        else:
            row.lose(f"byte {at} bit {bit}: exit {code} {said[:200]}")
    return row
