"""What else may happen while a command runs: it is killed, its disk is full, its files change, it asks for the network.

Each is a `sitecustomize` module, which Python loads before the script: it acts at a moment that is the same every time,
where a timer would sometimes come too late.
"""

from __future__ import annotations

from pathlib import Path

_KILL = """\
import os, signal, sys
seen = 0

def hook(event, arguments):
    global seen
    if event in ("open", "os.mkdir", "os.rename", "os.remove") and str(arguments[0]).startswith({folder!r}):
        seen += 1
        if seen == {moment}:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
"""

_LIMIT = """\
import resource, signal
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
if {dies}:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
"""

# The first process that is started stands for the middle of the run: labels and index have been read by then.
_CHANGE = """\
import shutil, sys
done = False

def hook(event, arguments):
    global done
    if event == "subprocess.Popen" and not done:
        done = True
{action}

sys.addaudithook(hook)
"""

_OFFLINE = """\
import os, sys

def hook(event, arguments):
    if event.startswith("socket.") or event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.system", "urllib.Request"):
        os.write(2, ("used " + event + "\\n").encode())
        os._exit(99)

sys.addaudithook(hook)
"""


def killed_at(place: Path, folder: Path, moment: int) -> dict[str, str]:
    """SIGKILL just before the process touches `folder` for the `moment`-th time."""
    return _customised(place, _KILL.format(folder=str(folder), moment=moment))


def disk_full_at(place: Path, size: int, *, dies: bool = False) -> dict[str, str]:
    """No file may grow beyond `size` bytes: writing fails, or kills the process where it `dies`."""
    return _customised(place, _LIMIT.format(size=size, dies=dies))


def changes(place: Path, *statements: str) -> dict[str, str]:
    """The statements are executed while the command runs."""
    return _customised(place, _CHANGE.format(action="\n".join(f"        {one}" for one in statements)))


def offline(place: Path) -> dict[str, str]:
    """The process ends with exit code 99 where it opens a socket or starts another process."""
    return _customised(place, _OFFLINE)


def _customised(place: Path, text: str) -> dict[str, str]:
    place.mkdir(exist_ok=True)
    (place / "sitecustomize.py").write_text(text, encoding="utf-8")
    return {"PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
