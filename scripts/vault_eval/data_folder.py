"""What is kept outside every vault, and where: indexes, reports, settings. Nothing is made until it is written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vault_eval import strict_json
from vault_eval.atomic_file import make_private_folder, write_atomically
from vault_eval.digests import sha256_hex
from vault_eval.errors import UsageError
from vault_eval.strict_json import JsonValue


class VaultSettings(NamedTuple):
    """What is remembered about one vault: the label sources last named with --remember, the options of its index."""

    labels: tuple[str, ...] = ()
    index_options: Mapping[str, object] | None = None


class DataFolder(NamedTuple):
    """The folders of one user's data; `root` is `--data`, `$VAULT_EVAL_DATA`, or the platform's user data folder."""

    root: str

    def index_folder(self, vault: str) -> str:
        """The folder of a vault's own index; `vault` is the vault's id."""
        return os.path.join(self.root, "indexes", vault)

    def variant_folder(self, vault: str, options: Mapping[str, object]) -> str:
        """The folder of another index of the same vault, built with these options."""
        return os.path.join(self.root, "variants", vault, sha256_hex(strict_json.dumps(options).encode())[:16])

    def reports_folder(self, vault: str) -> str:
        """The folder of a vault's reports, one folder below it each, named by UTC time."""
        return os.path.join(self.root, "reports", vault)

    def judgements_folder(self, vault: str) -> str:
        """The folder of a vault's pools and of what was judged in them."""
        return os.path.join(self.root, "judgements", vault)

    def holdout_ledger(self, vault: str) -> str:
        """The file that says who looked at the holdout labels of a vault."""
        return os.path.join(self.root, "holdout", f"{vault}.jsonl")

    def settings(self, vault: str) -> VaultSettings:
        """What is remembered about a vault; nothing where there is no file. Raises UsageError for a damaged one."""
        path = self._settings_path(vault)
        try:
            with open(path, "rb") as file:
                return _settings(strict_json.loads(file.read().decode("utf-8")))
        except FileNotFoundError:
            return VaultSettings()
        except (OSError, ValueError) as error:
            found = error.strerror if isinstance(error, OSError) else error
            raise UsageError(f"the remembered settings {path!r} cannot be read: {found}; mend or remove the file") from None

    def remember(
        self, vault: str, *, labels: Sequence[str] | None = None, index_options: Mapping[str, object] | None = None
    ) -> None:
        """Change what is remembered about a vault; what is not given stays. Raises VaultEvalError where it cannot be written."""
        before = self.settings(vault)
        content = {
            "labels": list(before.labels if labels is None else labels),
            "index_options": before.index_options if index_options is None else dict(index_options),
        }
        make_private_folder(os.path.dirname(self._settings_path(vault)))
        write_atomically(self._settings_path(vault), [strict_json.encode(strict_json.dumps(content, spread=1) + "\n")])

    def _settings_path(self, vault: str) -> str:
        return os.path.join(self.root, "settings", f"{vault}.json")


def _settings(content: JsonValue) -> VaultSettings:
    if not isinstance(content, dict):
        raise ValueError("they are no JSON object")  # noqa: TRY004 - damaged JSON of either kind is one error for the caller
    labels = content.get("labels", [])
    if not isinstance(labels, list):
        raise ValueError("labels is no list of texts")  # noqa: TRY004 - as above
    sources = tuple(source for source in labels if isinstance(source, str))
    if len(sources) != len(labels):
        raise ValueError("labels is no list of texts")
    options = content.get("index_options")
    if not (options is None or isinstance(options, dict)):
        raise ValueError("index_options is no object")
    return VaultSettings(sources, options)
