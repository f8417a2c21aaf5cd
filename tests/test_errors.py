"""The tree that `errors` draws, held against the classes there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from vault_eval import errors

PACKAGE = Path(errors.__file__).parent
ROOT = errors.VaultEvalError.__name__


def classes() -> dict[str, str]:
    """Each class of the package that is a refusal -> the one it is a kind of."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py"))
    found = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    parents = {node.name: node.bases[0].id for node in found if node.bases and isinstance(node.bases[0], ast.Name)}

    def is_refusal(name: str) -> bool:
        return name == ROOT or (name in parents and is_refusal(parents[name]))

    return {name: parent for name, parent in parents.items() if name != ROOT and is_refusal(name)}


def drawn() -> dict[str, str]:
    """The same from the drawing: the parent is the last name above that stands further to the left."""
    above: list[tuple[int, str]] = []
    found: dict[str, str] = {}
    for line in (errors.__doc__ or "").splitlines():
        name = re.match(r"    ([|` -]*)([A-Z]\w+) +\d+   ", line)
        if name:
            above = [one for one in above if one[0] < name.start(2)]
            found |= {name[2]: above[-1][1]} if above else {}
            above.append((name.start(2), name[2]))
    return found


def test_every_refusal_stands_in_the_tree_below_the_one_it_is_a_kind_of():
    assert drawn() == classes()
