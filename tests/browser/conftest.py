"""A real browser without a window: Chromium, driven by playwright. Missing, it is a reason to skip; with REQUIRE_BROWSER=1 a failure."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

REQUIRE = "REQUIRE_BROWSER"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# Black or white text on the page: the darker and the lighter of two colours, as WCAG 2 counts it.
CONTRAST = """
() => {
  const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(channel);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if (!/, 0\\)$/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.closest("svg, script") || !element.getClientRects().length) continue;
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${element.tagName} ${element.textContent.slice(0, 30)}: ${ratio}`);
  }
  return found;
}
"""


@dataclass(frozen=True)
class Opened:
    """A report in a tab, and all that the tab complained of or asked for."""

    page: object
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def __getattr__(self, name) -> object:
        return getattr(self.page, name)


def _missing(reason: str) -> None:
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(f"{REQUIRE}=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        _missing("no Chromium is installed; on Debian: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("the package playwright is not installed")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def open_report(browser, tmp_path) -> Iterator[object]:
    """`open_report(report, **context options)`: the report saved, opened from disk and watched. A test ends without complaint."""
    from vault_eval.reports.html_report import html_report

    opened = []

    def go(report, **options) -> Opened:
        path = tmp_path / f"report-{len(opened)}.html"
        path.write_text(report if isinstance(report, str) else html_report(report), encoding="utf-8", newline="\n")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(5000)
        tab = Opened(context.new_page())
        opened.append((tab, path.as_uri()))
        tab.page.on("console", lambda message: tab.complaints.append(f"{message.type}: {message.text}"))
        tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        tab.page.on("request", lambda request: tab.requests.append(request.url))
        tab.page.on("dialog", lambda dialog: (tab.dialogs.append(dialog.message), dialog.dismiss()))
        tab.page.goto(path.as_uri(), wait_until="load")
        return tab

    yield go
    for tab, address in opened:
        assert tab.complaints == []
        assert tab.dialogs == []
        assert tab.requests == [address], "a report asks for nothing but itself"
        tab.page.context.close()


@pytest.fixture
def contrast() -> str:
    """A script that gives every text whose colour is too near to that behind it."""
    return CONTRAST


def _load(name: str) -> object:
    """A module of the tests of the reports: the small and the hostile report are built there."""
    path = Path(__file__).resolve().parents[1] / "reports" / f"{name}.py"
    spec = spec_from_file_location(f"browser_{name}", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def reports() -> object:
    return _load("conftest")


@pytest.fixture(scope="session")
def renderings() -> object:
    return _load("test_renderings")


@pytest.fixture(scope="session")
def small(reports) -> object:
    return reports.build_small_report()


@pytest.fixture(scope="session")
def hostile(reports, renderings) -> object:
    return renderings.hostile_report(reports.build_row, reports.build_run, reports.build_report)


@pytest.fixture(scope="session")
def large(reports, renderings) -> object:
    return renderings.large_report(reports.build_row, reports.build_run, reports.build_report)
