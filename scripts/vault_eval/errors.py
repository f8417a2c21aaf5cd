"""Everything that vault-eval refuses, and the exit code each refusal ends with.

    VaultEvalError                2   something the person can mend
    |-- UsageError                2   an option or argument that cannot be
    |   `-- NoLabelsError         2   no label source was named or remembered, and none was found (labels.sources)
    |-- LabelError                2   a label file or note that breaks a rule
    |-- TargetError               2   text that cannot name a gold place (vault.targets)
    |-- NoteError                 2   frontmatter that cannot be read as labels (vault.yaml_tree)
    |-- UnsafePathError           2   a path that is a link, leaves the vault, or lies inside it
    |-- UnreadableFileError       2   a file that is absent, not regular, too large or not UTF-8
    |   `-- FileRefusedError      2   one that was not read, with the short reason (vault.refusal)
    |-- ChangedError              2   something changed while it was measured
    |-- MissingPackageError       2   a package that a command needs is not installed
    |-- EmbeddingFailedError      2   a model that gave no usable vector (index.vectors.embedder)
    `-- IndexUnusableError       10   no index, or a corrupt, foreign or other-version one

Only `vault_eval.cli` turns an error into an exit. A message says where, what was found, what is
allowed, and the next step.
"""

from __future__ import annotations


class VaultEvalError(Exception):
    """A refusal; `str(error)` is the whole message for a person."""

    exit_code = 2


class UsageError(VaultEvalError):
    """An option or argument has a value that is not allowed."""


class LabelError(VaultEvalError):
    """A label source breaks one or more rules; the message lists every problem found, bounded."""


class UnsafePathError(VaultEvalError):
    """A path is a link, leaves the folder it must stay in, or lies in one it must stay out of."""


class UnreadableFileError(VaultEvalError):
    """A file is absent, not a regular file, larger than its limit, or not strict UTF-8."""


class ChangedError(VaultEvalError):
    """Labels, index or a page changed while they were measured; the figures would describe neither state."""


class MissingPackageError(VaultEvalError):
    """A command needs a package that this interpreter lacks and that it may not install."""


class IndexUnusableError(VaultEvalError):
    """The index is missing, corrupt, of another version or of another vault; nothing was created.

    `says_remedy`: the message names what mends it; else that is to build the vault's own index.
    """

    exit_code = 10

    def __init__(self, message: str, *, says_remedy: bool = False) -> None:
        super().__init__(message)
        self.says_remedy = says_remedy
