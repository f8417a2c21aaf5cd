"""What is kept outside every vault, and where: indexes, reports, settings. Nothing is made until it is written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_eval import strict_json
from vault_eval.atomic_file import make_private_folder, write_atomically
from vault_eval.errors import UsageError


@dataclass(frozen=True, slots=True)
class VaultSettings:
    """What is remembered about one vault: the label sources last named with --remember, the options of its index."""

    labels: tuple[str, ...] = ()
    index_options: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The folders of one user's data; `root` is `--data`, `$VAULT_EVAL_DATA`, or the platform's user data folder."""

    root: str

    def index(self, vault: str) -> str:
        """The folder of a vault's own index; `vault` is the vault's id."""
        return os.path.join(self.root, "indexes", vault)

    def reports(self, vault: str) -> str:
        """The folder of a vault's reports, one folder below it each, named by UTC time."""
        return os.path.join(self.root, "reports", vault)

    def settings(self, vault: str) -> VaultSettings:
        """What is remembered about a vault; nothing where there is no file. Raises UsageError for a damaged one."""
        path = self._settings_path(vault)
        try:
            with open(path, "rb") as file:
                content = strict_json.loads(file.read().decode("utf-8"))
        except FileNotFoundError:
            return VaultSettings()
        except (OSError, ValueError) as error:
            raise UsageError(f"the remembered settings {path!r} cannot be read: {error}; mend or remove the file") from None
        labels = content.get("labels") if isinstance(content, dict) else None
        options = content.get("index_options") if isinstance(content, dict) else None
        return VaultSettings(
            tuple(str(source) for source in labels) if isinstance(labels, list) else (),
            options if isinstance(options, dict) else None,
        )

    def remember(self, vault: str, *, labels: Sequence[str] | None = None, index_options: Mapping[str, object] | None = None) -> None:
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
