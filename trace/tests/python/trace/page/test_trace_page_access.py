"""The page of a report for everybody: by keyboard, by screen reader, on paper, on a telephone, in the dark."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import trace_page_reports as reports
from levels import Effort
from trace_page_browser import OpenPage, wait_until, wait_until_drawn

from plait.trace import page

# All visible elements that can have the focus, except radio buttons that are reached with arrow keys.
FOCUSABLE = """() => {
  const groups = new Set();
  return [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter((node) => {
    if (node.disabled || node.hidden || !node.checkVisibility()) return false;
    if (node.type !== "radio") return true;
    return node.checked;
  });
}"""

# The contrast of every text with its background: [ratio, required ratio, text].
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (below, colour) => {
    canvas.globalCompositeOperation = "copy";
    canvas.fillStyle = `rgb(${below.join(" ")})`;
    canvas.fillRect(0, 0, 1, 1);
    canvas.globalCompositeOperation = "source-over";
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const part = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const ground = (node) => {
    const chain = [];
    for (let at = node; at; at = at.parentElement) chain.unshift(getComputedStyle(at).backgroundColor);
    return chain.reduce(over, [255, 255, 255]);
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim();
    const node = walk.currentNode.parentElement;
    if (!text || !node.checkVisibility() || node.closest("script, style, :disabled, .unseen")) continue;
    const look = getComputedStyle(node);
    const below = ground(node);
    const own = over(below, node.closest("svg") ? look.fill : look.color);
    const [a, b] = [light(own), light(below)].sort((x, y) => y - x);
    const size = parseFloat(look.fontSize);
    found.push([(a + 0.05) / (b + 0.05), size >= 24 || (size >= 18.66 && look.fontWeight >= 700) ? 3 : 4.5, text]);
  }
  return found;
}"""


def draw_all(tab: Any) -> None:
    """Scroll every section into view, so that its charts are drawn."""
    for section in tab.locator("main section[id]").all():
        section.scroll_into_view_if_needed()
        wait_until_drawn(tab)


@pytest.mark.long
def test_tab_reaches_everything(open_page: OpenPage) -> None:
    tab = open_page(reports.full())
    draw_all(tab)
    tab.evaluate("() => { scrollTo(0, 0); window.seen = new Set(); }")
    tab.evaluate("() => addEventListener('focusin', (event) => window.seen.add(event.target))")
    number = tab.evaluate(f"() => ({FOCUSABLE})().length")
    assert number > 60
    for _ in range(number + 5):
        tab.keyboard.press("Tab")
    missed = tab.evaluate(
        f"() => ({FOCUSABLE})().filter((node) => !window.seen.has(node)).map((node) => node.outerHTML)"
    )
    assert missed == []


def test_focus_can_be_seen(open_page: OpenPage) -> None:
    tab = open_page(reports.full(64, 2, 16))
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    assert tab.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    tab.keyboard.press("Enter")
    wait_until(tab, "document.activeElement.id === 'main'")
    for selector in ("#timeline .plot", "#timeline .buttons button", "#files thead button", "nav a", "summary"):
        tab.locator(selector).first.focus()
        tab.keyboard.press("Shift+Tab")
        tab.keyboard.press("Tab")
        width = tab.evaluate("getComputedStyle(document.activeElement).outlineWidth")
        assert width == "3px", selector


def test_has_landmarks_headings_and_names(open_page: OpenPage) -> None:
    tab = open_page(reports.full())
    assert tab.locator("html").get_attribute("lang") == "en"
    assert tab.title() == "venus – I/O report"
    for landmark in ("header", "nav", "main", "footer"):
        assert tab.locator(f"body {landmark}").count() == 1
    levels = tab.locator("h1, h2, h3").evaluate_all("(all) => all.map((each) => Number(each.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    ids = tab.locator("[id]").evaluate_all("(all) => all.map((each) => each.id)")
    assert len(ids) == len(set(ids))
    broken = tab.evaluate("""() => {
      const there = (id) => document.getElementById(id)?.textContent.trim();
      const lists = [...document.querySelectorAll("[aria-labelledby], [aria-describedby]")].flatMap((node) =>
        ["aria-labelledby", "aria-describedby"].flatMap((name) => (node.getAttribute(name) ?? "").split(" ")));
      const links = [...document.querySelectorAll("a[href^='#']")].map((node) => node.getAttribute("href").slice(1));
      const unnamed = [...document.querySelectorAll("button, input, select")].filter((node) =>
        !(node.textContent.trim() || node.getAttribute("aria-label") || [...(node.labels ?? [])].length));
      return [...lists.filter((id) => id && !there(id)), ...links.filter((id) => !document.getElementById(id)),
        ...unnamed.map((node) => node.outerHTML)];
    }""")
    assert broken == []


@pytest.mark.long
def test_charts_have_texts_and_tables(open_page: OpenPage) -> None:
    tab = open_page(reports.full())
    charts = tab.locator(".plot")
    assert charts.count() == 4
    for chart in charts.all():
        assert chart.get_attribute("role") == "application"
        assert chart.get_attribute("aria-roledescription") == "interactive chart"
        assert chart.get_attribute("aria-label")
        assert chart.get_attribute("tabindex") == "0"
    assert tab.locator(".plot svg:not([aria-hidden])").count() == 0
    for section in ("timeline", "sizes", "offsets", "ranks"):
        part = tab.locator(f"#{section}")
        assert part.locator("output[aria-live=polite]").count() == 1
        part.locator("details summary").click()
        wait_until_drawn(tab)
        part.locator("details table tbody tr").nth(2).wait_for(state="attached")
        assert part.locator("details table caption").first.inner_text()
    assert "read 8.70" in tab.locator("#timeline figcaption").inner_text()
    rows = tab.locator("#timeline details tbody tr").count()
    assert 20 < rows <= 48
    tab.locator("#timeline .plot").focus()
    tab.keyboard.press("Home")
    for _ in range(6):
        tab.keyboard.press("+")
    wait_until_drawn(tab)
    assert 4 < tab.locator("#timeline details tbody tr").count() < 16


@pytest.mark.long
def test_paper_has_all_tables_and_no_controls(open_page: OpenPage) -> None:
    tab = open_page(reports.huge(), scheme="dark")
    assert tab.locator("#files tbody tr").count() == 20
    tab.emulate_media(media="print")
    wait_until_drawn(tab)
    assert tab.locator("#files tbody tr").count() == 1000
    assert tab.locator("#processes tbody tr").count() == 512
    assert tab.locator("details:not([open])").count() == 0
    unseen = tab.locator("table").evaluate_all("(all) => all.filter((each) => !each.checkVisibility()).length")
    assert unseen == 0
    for control in (".controls", ".find", "nav", ".overview", ".more", ".skip"):
        assert not any(each.is_visible() for each in tab.locator(control).all()), control
    assert tab.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    data = "(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data"
    drawn = tab.locator("#ranks canvas").evaluate(f"(canvas) => ({data})(canvas).some((value) => value > 0)")
    assert drawn
    tab.emulate_media(media="screen")
    wait_until_drawn(tab)
    assert tab.locator("#files tbody tr").count() == 20
    assert tab.locator("details[open]").count() == 1  # the notes of the trace


@pytest.mark.long
def test_prints(open_page: OpenPage) -> None:
    tab = open_page(reports.full())
    paper = tab.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert paper.count(b"/Type /Page\n") + paper.count(b"/Type/Page") < 30


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["full", "empty", "hostile", "comparison"])
def test_fits_any_width(open_page: OpenPage, name: str) -> None:
    text = page.comparison_text(*reports.comparison()) if name == "comparison" else getattr(reports, name)()
    tab = open_page(text, size=(360, 800))
    draw_all(tab)
    for details in tab.locator("summary").all():
        details.click()
    for width in (360, 320, 768, 3840):
        tab.set_viewport_size({"width": width, "height": 800})
        wait_until(tab, f"innerWidth === {width}")
        wait_until_drawn(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.locator(".plot").evaluate_all("(all) => all.every((each) => each.clientWidth > 200)")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(open_page: OpenPage, scheme: str, effort: Effort) -> None:
    tab = open_page(effort.choose(reports.full(64, 2, 16), reports.full()), scheme=scheme)
    draw_all(tab)
    tab.get_by_label("stacked").check()
    for details in tab.locator("summary").all():
        details.click()
    wait_until_drawn(tab)
    contrasts = tab.evaluate(CONTRASTS)
    assert len(contrasts) > effort.choose(100, 500)
    weak = sorted((round(ratio, 2), text) for ratio, needed, text in contrasts if ratio < needed)
    assert weak == []
    print(f"{scheme}: the least contrast is {min(ratio for ratio, _, _ in contrasts):.2f}")
    ground = tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (int(ground[4:].split(",")[0]) < 64) == (scheme == "dark")


@pytest.mark.long
def test_colours_of_maps_follow_the_scheme(open_page: OpenPage) -> None:
    pictures = []
    for scheme in ("light", "dark"):
        tab = open_page(reports.full(64, 4, 32), scheme=scheme)
        tab.locator("#ranks .plot").scroll_into_view_if_needed()
        wait_until_drawn(tab)
        pictures.append(tab.locator("#ranks canvas").evaluate("(canvas) => canvas.toDataURL()"))
    tab.emulate_media(color_scheme="light")
    wait_until_drawn(tab)
    pictures.append(tab.locator("#ranks canvas").evaluate("(canvas) => canvas.toDataURL()"))
    assert pictures[0] != pictures[1]
    assert pictures[0] == pictures[2]
