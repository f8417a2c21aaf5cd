#!/usr/bin/env python3
"""Measure how well a search finds the notes of one Obsidian vault, from labelled queries. Writes nothing to the vault.

Usage: python3 scripts/evaluate-retrieval.py --vault DIR --queries FILE [options]; --help lists them. The same command
       as `vault-eval.py bench`.
Exit:  0 done, and every gate passed; 1 a gate failed; 2 usage, invalid labels, an unsafe path, a missing package, or
       something changed while it was measured; 3 undecided; 10 the index must be built; 70 a fault of ours; 130 stopped.
"""

# /// script
# requires-python = ">=3.10"
# dependencies = ["python-frontmatter>=1.1,<2", "markdown-it-py>=3,<5", "rich>=13.7", "jinja2>=3.1.5,<4"]
# ///

import os
import sys

if sys.version_info < (3, 10):  # so this file keeps to the syntax of older versions
    sys.stderr.write("vault-eval needs Python 3.10 or newer; this is %d.%d (%s).\n" % (*sys.version_info[:2], sys.executable))
    raise SystemExit(2)

if __name__ == "__main__":
    sys.dont_write_bytecode = True  # nothing is left beside the scripts; see launcher
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # `python3 -I` and `-P` leave this folder out

    from vault_eval import launcher
    from vault_eval.launcher.process import collect_seldom, end
    from vault_eval.launcher.stopping import exit_when_stopped

    exit_when_stopped()
    collect_seldom()
    launcher.prepare(sys.argv[1:])
    from vault_eval.cli import main

    end(main(["bench", *sys.argv[1:]], script=__file__))
