"""vault-eval: can the notes in an Obsidian vault be found, and did a change help?

Start reading at `evaluation.py`: the program on one page.
"""

__version__ = "0.1.0"
