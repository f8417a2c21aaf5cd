"""The bytes of an index file, read and digested by a thread of their own while the vault is listed and labels are read."""

from __future__ import annotations

from threading import Thread

from vault_eval.index.seal import file_sha256, sealed_state


class IndexReading:
    """One reading of the index file in `folder`; `state` is that of the file before its first byte was read, None without one.

    Reading and digesting let other threads run, so that on a second processor nobody waits for it.
    """

    def __init__(self, folder: str, vault: str) -> None:
        self.folder = folder
        self.state = sealed_state(folder, vault)
        self._digest: str | None = None
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def digest(self, path: str) -> str | None:
        """The SHA-256 of the file that was read, once it is; None where that is not `path`, or could not be read."""
        self._thread.join()
        return self._digest if self.state is not None and self.state[0] == path else None

    def _read(self) -> None:
        if self.state is not None:
            try:
                self._digest = file_sha256(self.state[0])
            except OSError:
                self._digest = None
