"""Other products, each run by its own commands: claude-obsidian from a checkout, qmd from an npm prefix."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from racing.places import CONTENDERS, Contenders, Place
from racing.processes import Figures, run
from racing.works import COLD_OF_A_ROUND, Work

# Its chunker reads every chunk of the vault once a page: above this, it is prepared without that scan.
PRODUCT_NOTES_MAX = 1_000


def _no_product(contenders: Contenders) -> str | None:
    root = contenders.product_root
    if root is None:
        return "name a checkout of claude-obsidian with --product-root"
    return None if (root / "scripts" / "retrieve.py").is_file() else f"{root} has no scripts/retrieve.py"


def _script(place: Place, name: str) -> Path:
    return (place.contenders.product_root or Path()) / "scripts" / name


def _product_vault(place: Place) -> Path:
    return place.folder / "product" / "vault"


def _index_by_product(place: Place, vault: Path, *, whole: bool) -> list[Figures]:
    chunker = _script(place, "contextual-prefix.py")
    program = (chunker,) if whole else (CONTENDERS / "product_chunks.py", chunker)
    return [
        run((sys.executable, *program, "--vault", vault, "--all", "--no-llm")),
        run((sys.executable, _script(place, "bm25-index.py"), "--vault", vault, "build")),
    ]


def _make_product(place: Place) -> None:
    vault = _product_vault(place)
    if not (vault / ".vault-meta" / "bm25" / "index.json").exists():
        shutil.rmtree(vault, ignore_errors=True)
        shutil.copytree(place.vault, vault)
        _index_by_product(place, vault, whole=place.notes <= PRODUCT_NOTES_MAX)


def _product(place: Place, turn: int) -> Figures:
    program = (sys.executable, _script(place, "retrieve.py"), "--vault", _product_vault(place))
    return run((*program, "--no-rerank", "--explain", "--", place.query(turn)))


def _product_build(place: Place, _turn: int) -> Figures:
    vault = place.folder / "product-anew"
    shutil.rmtree(vault, ignore_errors=True)
    shutil.copytree(place.vault, vault)
    try:
        chunked, indexed = _index_by_product(place, vault, whole=True)
        return {name: chunked[name] + indexed[name] for name in ("seconds", "cpu")} | {"mib": max(chunked["mib"], indexed["mib"])}
    finally:
        shutil.rmtree(vault, ignore_errors=True)


def _no_qmd(contenders: Contenders) -> str | None:
    prefix = contenders.qmd_prefix
    if prefix is None:
        return "name an npm prefix that holds @tobilu/qmd and node with --qmd-prefix, or in QMD_DIR"
    return None if (prefix / "node_modules" / ".bin" / "qmd").exists() else f"{prefix} has no node_modules/.bin/qmd"


def _run_qmd(place: Place, folder: Path, *words: object) -> Figures:
    binaries = (place.contenders.qmd_prefix or Path()) / "node_modules"
    path = os.pathsep.join([str(binaries / "node" / "bin"), str(binaries / ".bin"), os.environ["PATH"]])
    env = os.environ | {"PATH": path, "INDEX_PATH": str(folder / "index.sqlite")}
    env |= {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_CACHE_HOME": str(folder / "cache")}
    return run((binaries / ".bin" / "qmd", *words), env=env)


def _qmd_add_to(place: Place, folder: Path) -> Figures:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return _run_qmd(place, folder, "collection", "add", place.vault, "--name", "notes")


def _make_qmd(place: Place) -> None:
    if not (place.folder / "qmd" / "index.sqlite").exists():
        _qmd_add_to(place, place.folder / "qmd")


def _qmd_add(place: Place, _turn: int) -> Figures:
    folder = place.folder / "qmd-anew"
    try:
        return _qmd_add_to(place, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _qmd_search(place: Place, turn: int) -> Figures:
    words = ("search", "--format", "json", "--full-path", "-n", 10, "--", place.query(turn))
    return _run_qmd(place, place.folder / "qmd", *words)


PRODUCT = Work("retrieve.py", _product, _make_product, _no_product)
PRODUCT_BUILD = Work("contextual-prefix.py and bm25-index.py", _product_build, missing=_no_product)
QMD_SEARCH = Work("qmd search", _qmd_search, _make_qmd, _no_qmd, times=COLD_OF_A_ROUND)
QMD_ADD = Work("qmd collection add", _qmd_add, missing=_no_qmd)
