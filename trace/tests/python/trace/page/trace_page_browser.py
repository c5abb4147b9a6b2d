"""A headless browser that opens pages of reports and collects their errors and forbidden requests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from trace_page_reports import Document

from plait.trace import page

READY_TIMEOUT = 60_000  # ms; a page of usual size takes about 0.2 s, and the machine may be very busy


@pytest.fixture(scope="module")
def running_browser() -> Iterator[Any]:
    """Return Chromium, or skip with the missing part as the reason."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium was found in PATH")
    options = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=program, args=options)
        try:
            yield running
        finally:
            running.close()


class PageOpener:
    """Opens pages; `check()` fails for errors in their scripts, and for requests."""

    def __init__(self, running: Any, folder: Path) -> None:
        self.running = running
        self.folder = folder
        self.errors: list[str] = []
        self.contexts: list[Any] = []

    def __call__(
        self, report: Document | str, size: tuple[int, int] = (1280, 900), scheme: str = "light", script: bool = True
    ) -> Any:
        path = self.folder / f"page-{len(self.contexts)}.html"
        path.write_text(report if isinstance(report, str) else page.page_text(report), encoding="utf-8")
        context = self.running.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, java_script_enabled=script
        )
        self.contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(READY_TIMEOUT)
        tab.on("pageerror", lambda error: self.errors.append(f"error: {error}"))
        tab.on("console", lambda message: self.errors.append(f"{message.type}: {message.text}"))

        def route(request: Any) -> None:
            if request.request.url == path.as_uri():
                request.continue_()
            else:
                self.errors.append(f"asks for {request.request.url}")
                request.abort()

        tab.route("**/*", route)
        tab.goto(path.as_uri())
        if script:
            tab.wait_for_selector("html[data-ready]", state="attached")
        return tab

    def close(self) -> None:
        """End everything that was opened, and fail if there were errors."""
        for context in self.contexts:
            context.close()
        assert not self.errors, "\n".join(self.errors)


OpenPage = Callable[..., Any]


@pytest.fixture
def open_page(running_browser: Any, tmp_path: Path) -> Iterator[OpenPage]:
    """Open pages, and fail a test whose pages have errors."""
    opener = PageOpener(running_browser, tmp_path)
    yield opener
    opener.close()


# Pages draw in animation frames, and after events that follow them (`toggle`, becoming visible, new sizes): drawing is
# complete when two frames, and the tasks after them, pass without a change.  A timer set by a timer runs after the
# tasks of a frame.
WAIT_UNTIL_QUIET = """() => new Promise((done) => {
  let quiet = 0;
  const watch = new MutationObserver(() => (quiet = 0));
  watch.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
  const check = () => {
    if (quiet === 2) return watch.disconnect(), done();
    quiet += 1;
    requestAnimationFrame(() => setTimeout(() => setTimeout(check)));
  };
  check();
})"""


def wait_until_drawn(tab: Any) -> None:
    """Wait until everything requested is drawn, regardless of the speed of the machine."""
    tab.evaluate(WAIT_UNTIL_QUIET)


def wait_until(tab: Any, condition: str) -> None:
    """Wait until an expression is true; the page's policy prevents Playwright's own function from evaluating any."""
    check = f"const check = () => (({condition}) ? done() : requestAnimationFrame(check));"
    tab.evaluate(f"() => new Promise((done) => {{ {check} check(); }})")


def area(tab: Any, plot: str) -> tuple[float, float, float, float]:
    """Return the edges of the plot area of a chart on the screen: left, right, top, bottom."""
    locator = tab.locator(plot)
    locator.scroll_into_view_if_needed()
    wait_until_drawn(tab)
    box = locator.bounding_box()
    ends = tab.evaluate(
        """(plot) => {
          const line = [...document.querySelectorAll(`${plot} .surface line.base`)]
            .map((each) => ["x1", "x2", "y1"].map((name) => Number(each.getAttribute(name))))
            .sort((a, b) => b[1] - b[0] - (a[1] - a[0]) || b[2] - a[2])[0];
          return line;
        }""",
        plot,
    )
    return box["x"] + ends[0], box["x"] + ends[1], box["y"] + 30, box["y"] + ends[2] - 10
