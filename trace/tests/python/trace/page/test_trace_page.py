"""The page of a report in a browser: the texts and the behavior of its charts and tables."""

from __future__ import annotations

from typing import Any

import pytest
import trace_page_reports as reports
from trace_page_browser import OpenPage, area, wait_until, wait_until_drawn

from plait.trace import page
from plait.trace.page import _words

TIMELINE = "#timeline .plot"


def amount(count: float) -> str:
    """Return bytes as the page writes them, with plain blanks."""
    return _words.amount(count).replace("\u00a0", " ")


def texts(tab: Any, selector: str) -> list[str]:
    wait_until_drawn(tab)
    return [text.replace("\u00a0", " ") for text in tab.locator(selector).all_inner_texts()]


def text(tab: Any, selector: str) -> str:
    wait_until_drawn(tab)
    return tab.locator(selector).inner_text().replace("\u00a0", " ")


def read_out(tab: Any, section: str = "timeline") -> str:
    return text(tab, f"#{section} .readout")


def bin_text(report: reports.Document, i: int) -> str:
    """Return the text that the timeline shows for a bin, without its time."""
    line = report["timeline"]

    def side(name: str, field: str, requests: str) -> str:
        count = _words.count_text(line[requests][i], "request")
        return f"{name} {amount(line[field][i] / line['width'])}/s ({amount(line[field][i])} in {count})"

    sides = [side("read", "read_bytes", "reads"), side("wrote", "write_bytes", "writes")]
    return ", ".join([*sides, f"busy {_words.share(line['busy'][i])}"]).replace("\u00a0", " ")


def shown_range(tab: Any) -> tuple[float, float]:
    """Return the range that the timeline shows, in seconds."""
    words = text(tab, "#timeline .range").split()
    return float(words[0]), float(words[3])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["full", "empty", "single", "huge", "hostile"])
def test_opens_without_errors_or_requests(open_page: OpenPage, name: str) -> None:
    tab = open_page(getattr(reports, name)())
    ready_ms = int(tab.evaluate("document.documentElement.dataset.ready"))
    print(f"{name}: ready after {ready_ms} ms")
    assert ready_ms < 10_000
    for section in tab.locator("main section[id]").all():
        section.scroll_into_view_if_needed()
    wait_until_drawn(tab)
    ids = tab.locator("main section[id]").evaluate_all("(all) => all.map((each) => each.id)")
    assert {"conclusions", "timeline", "files", "trace"} <= set(ids)
    assert texts(tab, "nav a") == texts(tab, "main section > h2")


@pytest.mark.long
def test_dragging_zooms_and_both_ways_lead_back(open_page: OpenPage) -> None:
    report = reports.full()
    tab = open_page(report)
    seconds = report["timeline"]["width"] * len(report["timeline"]["read_bytes"])
    left, right, top, _ = area(tab, TIMELINE)
    everything = text(tab, "#in-view")
    assert everything.startswith("In the whole run: ")

    def drag() -> None:
        tab.mouse.move(left + (right - left) * 0.25, top)
        tab.mouse.down()
        tab.mouse.move(left + (right - left) * 0.4, top + 20, steps=3)
        wait_until_drawn(tab)
        assert tab.locator(f"{TIMELINE} .selected").count() == 1
        tab.mouse.move(left + (right - left) * 0.5, top + 20, steps=3)
        tab.mouse.up()

    drag()
    assert shown_range(tab) == pytest.approx((seconds * 0.25, seconds * 0.5), abs=seconds * 0.005)
    assert text(tab, "#in-view").startswith("In the 94.")
    assert tab.locator(f"{TIMELINE} .selected").count() == 0
    tab.get_by_role("button", name="Show the whole run").first.click()
    assert text(tab, "#in-view") == everything
    drag()
    tab.locator(TIMELINE).dblclick()
    assert text(tab, "#in-view") == everything


@pytest.mark.long
def test_sum_of_the_shown_range(open_page: OpenPage) -> None:
    report = reports.full()
    tab = open_page(report)
    line = report["timeline"]
    read, wrote = amount(sum(line["read_bytes"])), amount(sum(line["write_bytes"]))
    assert f"read {read}, wrote {wrote}, " in text(tab, "#in-view")
    tab.locator(TIMELINE).focus()
    tab.keyboard.press("Home")
    for _ in range(5):
        tab.keyboard.press("+")
    low, high = shown_range(tab)
    inside = [i for i in range(512) if low <= (i + 0.5) * line["width"] < high]
    assert 8 < len(inside) < 24
    expected = sum(line["read_bytes"][i] for i in inside)
    assert f"read {amount(expected)}," in text(tab, "#in-view")


def test_keys_move_the_cursor_and_zoom(open_page: OpenPage) -> None:
    report = reports.full()
    tab = open_page(report)
    tab.locator(TIMELINE).focus()
    tab.keyboard.press("Home")
    assert read_out(tab).endswith(bin_text(report, 0))
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Shift+ArrowRight")
    assert read_out(tab).endswith(bin_text(report, 11))
    tab.keyboard.press("ArrowLeft")
    assert read_out(tab).endswith(bin_text(report, 10))
    tab.keyboard.press("End")
    assert read_out(tab).endswith(bin_text(report, 511))
    assert text(tab, "#timeline .range") == ""
    tab.keyboard.press("+")
    first = shown_range(tab)
    assert first[1] == pytest.approx(379, abs=1)
    assert first[1] - first[0] == pytest.approx(379 / 2, rel=0.02)
    tab.keyboard.press("PageUp")
    assert shown_range(tab)[0] == pytest.approx(first[0] - 0.8 * 379 / 2, abs=1)
    tab.keyboard.press("-")
    assert text(tab, "#timeline .range") == ""
    tab.keyboard.press("+")
    tab.keyboard.press("0")
    assert text(tab, "#timeline .range") == ""
    for _ in range(40):
        tab.keyboard.press("+")
    low, high = shown_range(tab)
    assert 0 < high - low < 5 * report["timeline"]["width"]


def test_pointing_reads_out_the_bin(open_page: OpenPage) -> None:
    report = reports.full(64)
    tab = open_page(report)
    left, right, top, _ = area(tab, TIMELINE)
    for i in (0, 7, 33, 63):
        tab.mouse.move(left + (right - left) * (i + 0.5) / 64, top + 40)
        assert read_out(tab).endswith(bin_text(report, i))
    tab.mouse.move(5, 5)
    assert read_out(tab) == ""


@pytest.mark.long
def test_wheel_zooms_only_after_a_click(open_page: OpenPage) -> None:
    tab = open_page(reports.full())
    left, right, top, _ = area(tab, TIMELINE)
    tab.mouse.move((left + right) / 2, top + 40)
    before = tab.evaluate("scrollY")
    tab.evaluate("() => document.addEventListener('scrollend', () => (window.scrolledTo = scrollY))")
    tab.mouse.wheel(0, 120)
    wait_until(tab, f"window.scrolledTo > {before} && scrollY === window.scrolledTo")
    assert text(tab, "#timeline .range") == ""
    left, right, top, _ = area(tab, TIMELINE)
    tab.locator(TIMELINE).click(position={"x": 300, "y": 80})
    tab.mouse.wheel(0, -120)
    wait_until(tab, "document.querySelector('#timeline .range').textContent !== ''")
    low, high = shown_range(tab)
    assert high - low == pytest.approx(379 * 0.8, rel=0.01)
    tab.mouse.wheel(0, 120)
    wait_until(tab, "document.querySelector('#timeline .range').textContent === ''")


@pytest.mark.long
def test_charts_of_one_time_move_together(open_page: OpenPage) -> None:
    tab = open_page(reports.full())
    tab.locator("#ranks .plot").scroll_into_view_if_needed()
    wait_until_drawn(tab)
    before = tab.locator("#ranks .surface").text_content()
    tab.locator("#ranks .plot").focus()
    tab.keyboard.press("Home")
    for _ in range(4):
        tab.keyboard.press("+")
    wait_until_drawn(tab)
    assert tab.locator("#ranks .surface").text_content() != before
    low, high = shown_range(tab)
    assert (low, high) == pytest.approx((0, 379 / 16), abs=1.5)
    tab.locator("#ranks").get_by_role("button", name="Show the whole run").click()
    wait_until_drawn(tab)
    assert tab.locator("#ranks .surface").text_content() == before


@pytest.mark.long
def test_marks_of_the_cycle(open_page: OpenPage) -> None:
    report = reports.full()
    tab = open_page(report)
    assert tab.locator(f"{TIMELINE} .turn").count() == 0
    tab.get_by_label("turns of the cycle of 30").check()
    wait_until_drawn(tab)
    assert tab.locator(f"{TIMELINE} .turn").count() == 13
    tab.get_by_label("turns of the cycle of 30").uncheck()
    wait_until_drawn(tab)
    assert tab.locator(f"{TIMELINE} .turn").count() == 0


@pytest.mark.long
def test_stacked_and_single_timelines(open_page: OpenPage) -> None:
    report = reports.full()
    tab = open_page(report)
    drawn = tab.locator(f"{TIMELINE} path.write").get_attribute("d")
    tab.get_by_label("stacked").check()
    wait_until_drawn(tab)
    assert tab.locator(f"{TIMELINE} path.write").get_attribute("d") != drawn
    tab.get_by_label("reads up").check()
    offsets = report["offsets"][2]
    tab.locator("#timeline").get_by_label("Show", exact=True).select_option(offsets["file"])
    wait_until_drawn(tab)
    read, wrote = (sum(map(sum, offsets[side])) for side in ("read", "write"))
    assert f"read {amount(read)}, wrote {amount(wrote)}" in text(tab, "#in-view")
    tab.locator("#timeline").get_by_label("Show", exact=True).select_option("rank 3")
    wait_until_drawn(tab)
    assert f"moved {amount(sum(report['ranks']['bytes'][3]))}" in text(tab, "#in-view")
    assert tab.locator(f"{TIMELINE} path.both").count() == 1


@pytest.mark.long
def test_table_sorts_and_filters(open_page: OpenPage) -> None:
    report = reports.huge()
    tab = open_page(report)
    rows = tab.locator("#files tbody tr")
    names = "#files tbody th"
    assert rows.count() == 20
    assert texts(tab, names) == [row["name"] for row in report["files"][:20]]
    tab.locator("#files").get_by_role("button", name="Show all 1,000 files").click()
    assert rows.count() == 1000
    heading = tab.locator("#files thead th", has=tab.get_by_role("button", name="File", exact=True))
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert texts(tab, names) == sorted(row["name"] for row in report["files"])
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert texts(tab, names)[0] == max(row["name"] for row in report["files"])
    assert tab.locator("#files thead th[aria-sort]").count() == 1
    tab.get_by_label("Find files").fill("PART-0001 swapping")
    expected = [row["name"] for row in report["files"] if "part-0001" in row["name"]]
    assert sorted(texts(tab, names)) == sorted(expected)
    assert text(tab, "#files .status") == f"{len(expected)} of {_words.count_text(1000, 'file')}"
    tab.get_by_label("Find files").fill("no such file")
    assert rows.count() == 0
    tab.get_by_label("Find files").fill("")
    assert rows.count() == 1000
    assert "98,312 files with 115 GiB" in text(tab, "#files .remark")


@pytest.mark.long
def test_choosing_a_file_draws_its_map(open_page: OpenPage) -> None:
    report = reports.full()
    tab = open_page(report)

    def cells() -> str:
        tab.locator("#offsets .plot").scroll_into_view_if_needed()
        wait_until_drawn(tab)
        return tab.locator("#offsets canvas").evaluate("(canvas) => canvas.toDataURL()")

    first = cells()
    tab.locator("#files").get_by_role("button", name="data/section3.dat").click()
    assert cells() != first
    assert tab.locator("#offsets").get_by_label("File").input_value() == "data/section3.dat"
    assert "data/section3.dat" in tab.locator("#offsets .plot").get_attribute("aria-label")
    assert texts(tab, '#files button[aria-pressed="true"]') == ["data/section3.dat"]
    both = cells()
    tab.locator("#offsets").get_by_label("writes", exact=True).check()
    writes = cells()
    tab.locator("#offsets").get_by_label("reads", exact=True).check()
    assert len({both, writes, cells()}) == 3
    tab.locator("#offsets").get_by_label("File").select_option("data/section0.dat")
    tab.locator("#offsets").get_by_label("reads and writes").check()
    assert cells() == first
    tab.locator("#files").get_by_role("button", name="venus.in").click()
    assert "venus.in is not among them" in text(tab, "#offsets .remark")
    assert tab.locator("#offsets canvas").count() == 0


@pytest.mark.long
def test_maps_read_out_their_cells(open_page: OpenPage) -> None:
    report = reports.full()
    tab = open_page(report)
    bytes_by_rank = report["ranks"]["bytes"]
    tab.locator("#ranks .plot").focus()
    tab.keyboard.press("Home")
    for _ in range(3):
        tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowRight")
    assert f"rank 2: {amount(bytes_by_rank[2][1])} moved in " in read_out(tab, "ranks")
    tab.keyboard.press("ArrowUp")
    assert f"rank 1: {amount(bytes_by_rank[1][1])} moved in " in read_out(tab, "ranks")
    left, right, top, bottom = area(tab, "#ranks .plot")
    height = (bottom + 10 - (top - 30) - 8) / 8
    tab.mouse.move(left + (right - left) * 24.5 / 128, top - 30 + 8 + 5.5 * height)
    assert f"rank 5: {amount(bytes_by_rank[5][24])} moved in " in read_out(tab, "ranks")
    offsets = report["offsets"][0]
    tab.locator("#offsets .plot").focus()
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowUp")
    assert f"0 B to 146 KiB of the file: read {amount(offsets['read'][0][0])}" in read_out(tab, "offsets")


@pytest.mark.long
def test_sizes_read_out_their_bins(open_page: OpenPage) -> None:
    tab = open_page(reports.full())
    tab.locator("#sizes .plot").focus()
    tab.keyboard.press("End")
    assert "22,700 reads (9.54 GiB), 12,100 writes (5.29 GiB)" in read_out(tab, "sizes")
    tab.keyboard.press("Home")
    assert read_out(tab, "sizes") == "64 B to below 128 B: 101 writes (7.89 KiB)"
    tab.keyboard.press("ArrowRight")
    assert read_out(tab, "sizes").endswith("none")


@pytest.mark.long
def test_hostile_names_do_nothing(open_page: OpenPage) -> None:
    tab = open_page(reports.hostile())
    wait_until_drawn(tab)
    assert tab.evaluate("window.pwned") is None
    assert tab.locator("img").count() == 0
    assert reports.HOSTILE[0] in texts(tab, "#files tbody th")
    assert reports.HOSTILE[0] in texts(tab, "#processes tbody td .name")
    tab.locator("#files").get_by_role("button", name=reports.HOSTILE[0]).click()
    wait_until_drawn(tab)
    assert tab.locator("#offsets canvas").count() == 1


def test_policy_blocks_injected_scripts(open_page: OpenPage) -> None:
    tab = open_page(reports.full(16, 2, 8))
    tab.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "window.pwned = 1";
      document.body.append(script);
    }""")
    assert tab.evaluate("window.pwned") is None
    assert tab.evaluate("fetch('https://example.invalid/').then(() => 'sent', () => 'stopped')") == "stopped"
    errors = open_page.errors  # type: ignore[attr-defined]
    for _ in range(100):  # they come from another process
        if len(errors) >= 3:
            break
        wait_until_drawn(tab)
    assert len(errors) == 3
    assert all("Content Security Policy" in each or "Fetch API" in each for each in errors)
    errors.clear()


def test_says_the_max_without_a_script(open_page: OpenPage) -> None:
    tab = open_page(reports.full(), script=False)
    assert tab.locator("h1").inner_text() == "venus"
    assert tab.locator(".conclusion").count() == 4
    assert tab.locator("noscript").is_visible()


@pytest.mark.long
def test_comparison_shares_its_scales(open_page: OpenPage) -> None:
    tab = open_page(page.comparison_text(*reports.comparison()))
    plots = tab.locator("#timeline .plot")
    assert plots.count() == 2
    plots.nth(1).scroll_into_view_if_needed()
    wait_until_drawn(tab)
    surfaces = tab.locator("#timeline .surface")
    assert surfaces.nth(0).text_content() == surfaces.nth(1).text_content().replace("end", "")
    assert tab.locator("#rows tbody tr").count() == 5
    assert "−44 %" in tab.locator("#rows tbody tr").first.inner_text().replace("\u00a0", " ")
    targets = tab.locator("main a[href^='#']").evaluate_all("(all) => all.map((each) => each.getAttribute('href'))")
    assert targets == ["#timeline", "#rows"]
    assert all(tab.locator(target).count() == 1 for target in targets)
    before = surfaces.nth(0).text_content()
    plots.nth(1).focus()
    tab.keyboard.press("Home")
    tab.keyboard.press("+")
    tab.keyboard.press("+")
    wait_until_drawn(tab)
    assert surfaces.nth(0).text_content() != before
