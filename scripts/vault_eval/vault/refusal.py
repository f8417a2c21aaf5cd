"""Why a file was not read: the short reasons, the error that carries one, and which paths are refused by their text."""

from __future__ import annotations

import errno
import os
import stat

from vault_eval.errors import UnreadableFileError

ABSENT = "it does not exist"
NO_NAME = "no file can have this name"
LINK = "it is, or passes through, a link"
NOT_REGULAR = "it is not a regular file"
NOT_BELOW = "it is no plain path below the folder"
CHANGED = "it changed while it was read"
DENIED = "permission denied"

_NO_NAME_ERRORS = {errno.ENAMETOOLONG, errno.EILSEQ} | ({errno.EINVAL} if os.name == "nt" else set())


class FileRefusedError(UnreadableFileError):
    """A file was not read; `reason` is the short form: absent, link, not a regular file, …; `advice` may be empty."""

    def __init__(self, path: str, reason: str, advice: str = "") -> None:
        super().__init__(f"{path!r} was not read: {reason}{'; ' + advice if advice else ''}")
        self.reason = reason
        self.advice = advice

    @property
    def absent(self) -> bool:
        """Nothing of that name is there."""
        return self.reason in {ABSENT, NO_NAME}


def changed_while_read(path: str) -> FileRefusedError:
    """The refusal of a file that was written while it was read."""
    return FileRefusedError(path, CHANGED, "pause sync and run again")


def refuse_unplain(path: str) -> None:
    """Raises FileRefusedError for a path that is absolute, or has `.`, `..` or empty segments; `""` is the folder itself."""
    parts = path.replace(os.sep, "/").split("/")
    has_drive = ":" in path and os.path.splitdrive(path)[0]
    if path and ("" in parts or os.curdir in parts or os.pardir in parts or has_drive):
        raise FileRefusedError(path, NOT_BELOW)


def physical_advice(path: str) -> str:
    """What to name instead of a path that holds a link."""
    return f"name the physical path instead: {os.path.realpath(path)!r}"


def plain_absolute(path: str) -> str:
    """The absolute path without `.` and `..`.

    Raises FileRefusedError for a NUL character, and where `..` follows a link: it leads elsewhere than the text says.
    """
    if "\0" in path:
        raise FileRefusedError(path, NO_NAME)
    above: list[str] = []
    for part in path.replace(os.sep, "/").split("/"):
        if part == os.pardir and above and above[-1] not in {"", os.pardir}:
            if os.path.islink(os.sep.join(above)):
                raise FileRefusedError(path, LINK, physical_advice(path))
            above.pop()
        elif part != os.curdir and (part or not above):
            above.append(part)
    return os.path.abspath(path)


def no_folder(found: os.stat_result) -> OSError:
    """The error for what is no folder, though something below it was asked for; below a plain file there is nothing."""
    # A folder by now: it was a link a moment ago.
    if stat.S_ISLNK(found.st_mode) or stat.S_ISDIR(found.st_mode):
        return OSError(errno.ELOOP, LINK)
    return OSError(errno.ENOENT if stat.S_ISREG(found.st_mode) else errno.ENOTDIR, NOT_REGULAR)


def reason_of(error: OSError | ValueError) -> str:
    """The short reason for an error of the operating system, or of a name that cannot be given to it."""
    if not isinstance(error, OSError) or error.errno in _NO_NAME_ERRORS:
        return NO_NAME
    if isinstance(error, FileNotFoundError):
        return ABSENT
    if error.errno in {errno.ELOOP, errno.EMLINK}:
        return LINK
    if isinstance(error, (IsADirectoryError, NotADirectoryError)):
        return NOT_REGULAR
    if isinstance(error, PermissionError):
        return DENIED
    return (error.strerror or type(error).__name__).lower()
