"""claude-obsidian's contextual-prefix.py without its look for left-over chunks: `python product_chunks.py SCRIPT ARGUMENTS`.

That look reads every chunk of the vault once a page, which takes hours at 10,000 notes; a vault that has never been indexed has
none left over. Used to prepare an index, never to measure how long the product takes to make one.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def loaded(script: Path) -> ModuleType:
    """The script as a module, with its neighbours to be found."""
    sys.path.insert(0, str(script.parent))
    spec = importlib.util.spec_from_file_location(script.stem.replace("-", "_"), script)
    if spec is None or spec.loader is None:
        raise ImportError(f"{script} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    script, *sys.argv[1:] = sys.argv[1:]
    product = loaded(Path(script))
    product.stale_chunks_for_page = lambda *_arguments, **_named: set()
    raise SystemExit(product.main())
