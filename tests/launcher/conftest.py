"""A made-up checkout with the real launcher, a bare interpreter, and small wheels on the disk."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PROBE = """\
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from vault_eval import launcher

launcher.prepare(sys.argv[1:])
from vault_eval.errors import VaultEvalError

try:
    data = launcher.data_folder(sys.argv[sys.argv.index("--data") + 1])
    if sys.argv[1] == "extras":
        launcher.install_extras(sys.argv[4:], data=data)
    launcher.ensure(tuple(launcher.RUNTIME_PACKAGES), may_install="index" in sys.argv, data=data, command=sys.argv[1])
except VaultEvalError as error:
    sys.stderr.write(f"{error}\\n")
    raise SystemExit(error.exit_code)
import frontmatter

print(os.path.dirname(os.path.dirname(sys.executable)))
print(sys.argv[1:])
"""


@dataclass(frozen=True)
class Checkout:
    """A checkout whose lock file may be a small one; `start` runs its probe as a person would run a command."""

    root: Path
    python: Path
    environment: dict[str, str]

    @property
    def lock(self) -> Path:
        return self.root / "requirements" / "runtime.txt"

    @property
    def probe(self) -> Path:
        return self.root / "scripts" / "probe.py"

    def open(self, *arguments: object, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.python, self.probe, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment | variables,
        )

    def start(self, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        process = self.open(*arguments, **variables)
        out, err = process.communicate(timeout=240)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture(scope="session")
def python_with_pip(tmp_path_factory) -> Path:
    """The same Python with nothing but pip, as a newcomer has it."""
    return _new_python(tmp_path_factory.mktemp("pip"))


@pytest.fixture(scope="session")
def python_without_pip(tmp_path_factory) -> Path:
    """The same Python with nothing at all."""
    return _new_python(tmp_path_factory.mktemp("bare"), "--without-pip")


@pytest.fixture
def checkout(tmp_path, python_with_pip) -> Checkout:
    """A checkout with the real lock file; nothing of this person's settings reaches it but the way to the network."""
    root = tmp_path / "checkout"
    shutil.copytree(
        ROOT / "scripts/vault_eval/launcher", root / "scripts/vault_eval/launcher", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("__init__.py", "errors.py"):
        shutil.copy(ROOT / "scripts/vault_eval" / name, root / "scripts/vault_eval" / name)
    (root / "requirements").mkdir()
    shutil.copy(ROOT / "requirements/runtime.txt", root / "requirements/runtime.txt")
    (root / "scripts/probe.py").write_text(PROBE, encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    dropped = ("PYTHON", "VAULT_EVAL_", "VIRTUAL_ENV", "XDG_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return Checkout(
        root,
        python_with_pip,
        environment | {"HOME": str(home), "PATH": _path_without_uv(), "UV_CACHE_DIR": str(tmp_path / "uv-cache")},
    )


@pytest.fixture
def offline_checkout(checkout, tmp_path) -> Checkout:
    """The checkout with a lock file that is satisfied from a folder: one wheel that stands for all four packages."""
    wheel = _write_wheel(tmp_path / "wheels", "stand_in", "1.0", ("frontmatter", "markdown_it", "rich", "jinja2"))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    checkout.lock.write_text(f"--no-index\n--find-links {wheel.parent}\nstand-in==1.0 --hash=sha256:{digest}\n", encoding="utf-8")
    return checkout


@pytest.fixture
def extras_checkout(offline_checkout, tmp_path) -> Checkout:
    """The same, where pip and uv know of nothing but that folder; what it has as wordllama cannot be imported by that name."""
    for name, version in (("snowballstemmer", "2.2"), ("pypdf", "5.0"), ("numpy", "1.26"), ("wordllama", "1.0")):
        _write_wheel(tmp_path / "wheels", name, version, [name.replace("word", "other_")])
    only = {"NO_INDEX": "1", "FIND_LINKS": str(tmp_path / "wheels")}
    told = {f"{tool}_{name}": value for tool in ("PIP", "UV") for name, value in only.items()}
    return replace(offline_checkout, environment=offline_checkout.environment | told)


@pytest.fixture(params=["uv", "pip", "ensurepip"])
def installing(request, python_without_pip) -> Callable[[Checkout], Checkout]:
    """The checkout on a machine that has one way of installing; the way with uv is skipped where there is no uv."""
    if request.param == "pip":
        return lambda checkout: checkout
    if request.param == "ensurepip":
        return lambda checkout: replace(checkout, python=python_without_pip)
    beside = Path(sys.executable).with_name("uv")
    uv = shutil.which("uv") or (str(beside) if beside.exists() else None)
    if uv is None:
        pytest.skip("uv is not installed")
    path = os.pathsep.join([str(Path(uv).parent), _path_without_uv()])
    return lambda checkout: replace(checkout, python=python_without_pip, environment=checkout.environment | {"PATH": path})


def _new_python(folder: Path, *options: str) -> Path:
    subprocess.run([sys.executable, "-m", "venv", *options, folder], check=True)
    return folder / "bin" / "python"


def _path_without_uv() -> str:
    return os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep) if not (Path(folder) / "uv").exists())


def _write_wheel(folder: Path, name: str, version: str, packages: Iterable[str]) -> Path:
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {f"{package}/__init__.py": "" for package in packages}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = "".join(_record(name, text) for name, text in files.items()) + f"{info}/RECORD,,\n"
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel


def _record(name: str, text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(text.encode())}\n"
