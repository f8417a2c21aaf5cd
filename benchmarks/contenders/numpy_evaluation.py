"""Our evaluation from end to end, but with numpy for the search: `numpy_evaluation.py` and the options of `bench`.

It starts as ours does and gives the same report: a process of ours and one of this differ in how postings are scored alone.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

    from vault_eval import launcher
    from vault_eval.launcher.process import collect_seldom, end

    collect_seldom()
    launcher.prepare(sys.argv[1:])
    from array_searcher import ArraySearcher

    from vault_eval.cli import main
    from vault_eval.retrievers import keyword

    keyword.Searcher = ArraySearcher
    end(main(["bench", *sys.argv[1:]], script=__file__))
