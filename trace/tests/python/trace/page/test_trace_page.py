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


def texts(shown: Any, selector: str) -> list[str]:
    wait_until_drawn(shown)
    return [text.replace("\u00a0", " ") for text in shown.locator(selector).all_inner_texts()]


def text(shown: Any, selector: str) -> str:
    wait_until_drawn(shown)
    return shown.locator(selector).inner_text().replace("\u00a0", " ")


def readout(shown: Any, section: str = "timeline") -> str:
    return text(shown, f"#{section} .readout")


def bin_text(report: reports.Document, i: int) -> str:
    """Return the text that the timeline shows for a bin, without its time."""
    line = report["timeline"]

    def side(name: str, field: str, requests: str) -> str:
        count = _words.count_text(line[requests][i], "request")
        return f"{name} {amount(line[field][i] / line['width'])}/s ({amount(line[field][i])} in {count})"

    sides = [side("read", "read_bytes", "reads"), side("wrote", "write_bytes", "writes")]
    return ", ".join([*sides, f"busy {_words.share(line['busy'][i])}"]).replace("\u00a0", " ")


def window(shown: Any) -> tuple[float, float]:
    """Return the range that the timeline shows, in seconds."""
    words = text(shown, "#timeline .range").split()
    return float(words[0]), float(words[3])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["full", "empty", "single", "huge", "hostile"])
def test_opens_without_errors_or_requests(open_page: OpenPage, name: str) -> None:
    shown = open_page(getattr(reports, name)())
    took = int(shown.evaluate("document.documentElement.dataset.ready"))
    print(f"{name}: ready after {took} ms")
    assert took < 10_000
    for section in shown.locator("main section[id]").all():
        section.scroll_into_view_if_needed()
    wait_until_drawn(shown)
    ids = shown.locator("main section[id]").evaluate_all("(all) => all.map((each) => each.id)")
    assert {"conclusions", "timeline", "files", "trace"} <= set(ids)
    assert texts(shown, "nav a") == texts(shown, "main section > h2")


@pytest.mark.long
def test_dragging_zooms_and_both_ways_lead_back(open_page: OpenPage) -> None:
    report = reports.full()
    shown = open_page(report)
    seconds = report["timeline"]["width"] * len(report["timeline"]["read_bytes"])
    left, right, top, _ = area(shown, TIMELINE)
    everything = text(shown, "#in-view")
    assert everything.startswith("In the whole run: ")

    def drag() -> None:
        shown.mouse.move(left + (right - left) * 0.25, top)
        shown.mouse.down()
        shown.mouse.move(left + (right - left) * 0.4, top + 20, steps=3)
        wait_until_drawn(shown)
        assert shown.locator(f"{TIMELINE} .selected").count() == 1
        shown.mouse.move(left + (right - left) * 0.5, top + 20, steps=3)
        shown.mouse.up()

    drag()
    assert window(shown) == pytest.approx((seconds * 0.25, seconds * 0.5), abs=seconds * 0.005)
    assert text(shown, "#in-view").startswith("In the 94.")
    assert shown.locator(f"{TIMELINE} .selected").count() == 0
    shown.get_by_role("button", name="Show the whole run").first.click()
    assert text(shown, "#in-view") == everything
    drag()
    shown.locator(TIMELINE).dblclick()
    assert text(shown, "#in-view") == everything


@pytest.mark.long
def test_sum_of_the_shown_range(open_page: OpenPage) -> None:
    report = reports.full()
    shown = open_page(report)
    line = report["timeline"]
    read, wrote = amount(sum(line["read_bytes"])), amount(sum(line["write_bytes"]))
    assert f"read {read}, wrote {wrote}, " in text(shown, "#in-view")
    shown.locator(TIMELINE).focus()
    shown.keyboard.press("Home")
    for _ in range(5):
        shown.keyboard.press("+")
    low, high = window(shown)
    inside = [i for i in range(512) if low <= (i + 0.5) * line["width"] < high]
    assert 8 < len(inside) < 24
    expected = sum(line["read_bytes"][i] for i in inside)
    assert f"read {amount(expected)}," in text(shown, "#in-view")


def test_keys_move_the_cursor_and_zoom(open_page: OpenPage) -> None:
    report = reports.full()
    shown = open_page(report)
    shown.locator(TIMELINE).focus()
    shown.keyboard.press("Home")
    assert readout(shown).endswith(bin_text(report, 0))
    shown.keyboard.press("ArrowRight")
    shown.keyboard.press("Shift+ArrowRight")
    assert readout(shown).endswith(bin_text(report, 11))
    shown.keyboard.press("ArrowLeft")
    assert readout(shown).endswith(bin_text(report, 10))
    shown.keyboard.press("End")
    assert readout(shown).endswith(bin_text(report, 511))
    assert text(shown, "#timeline .range") == ""
    shown.keyboard.press("+")
    first = window(shown)
    assert first[1] == pytest.approx(379, abs=1)
    assert first[1] - first[0] == pytest.approx(379 / 2, rel=0.02)
    shown.keyboard.press("PageUp")
    assert window(shown)[0] == pytest.approx(first[0] - 0.8 * 379 / 2, abs=1)
    shown.keyboard.press("-")
    assert text(shown, "#timeline .range") == ""
    shown.keyboard.press("+")
    shown.keyboard.press("0")
    assert text(shown, "#timeline .range") == ""
    for _ in range(40):
        shown.keyboard.press("+")
    low, high = window(shown)
    assert 0 < high - low < 5 * report["timeline"]["width"]


def test_pointing_reads_out_the_bin(open_page: OpenPage) -> None:
    report = reports.full(64)
    shown = open_page(report)
    left, right, top, _ = area(shown, TIMELINE)
    for i in (0, 7, 33, 63):
        shown.mouse.move(left + (right - left) * (i + 0.5) / 64, top + 40)
        assert readout(shown).endswith(bin_text(report, i))
    shown.mouse.move(5, 5)
    assert readout(shown) == ""


@pytest.mark.long
def test_wheel_zooms_only_after_a_click(open_page: OpenPage) -> None:
    shown = open_page(reports.full())
    left, right, top, _ = area(shown, TIMELINE)
    shown.mouse.move((left + right) / 2, top + 40)
    before = shown.evaluate("scrollY")
    shown.evaluate("() => document.addEventListener('scrollend', () => (window.scrolledTo = scrollY))")
    shown.mouse.wheel(0, 120)
    wait_until(shown, f"window.scrolledTo > {before} && scrollY === window.scrolledTo")
    assert text(shown, "#timeline .range") == ""
    left, right, top, _ = area(shown, TIMELINE)
    shown.locator(TIMELINE).click(position={"x": 300, "y": 80})
    shown.mouse.wheel(0, -120)
    wait_until(shown, "document.querySelector('#timeline .range').textContent !== ''")
    low, high = window(shown)
    assert high - low == pytest.approx(379 * 0.8, rel=0.01)
    shown.mouse.wheel(0, 120)
    wait_until(shown, "document.querySelector('#timeline .range').textContent === ''")


@pytest.mark.long
def test_charts_of_one_time_move_together(open_page: OpenPage) -> None:
    shown = open_page(reports.full())
    shown.locator("#ranks .plot").scroll_into_view_if_needed()
    wait_until_drawn(shown)
    before = shown.locator("#ranks .surface").text_content()
    shown.locator("#ranks .plot").focus()
    shown.keyboard.press("Home")
    for _ in range(4):
        shown.keyboard.press("+")
    wait_until_drawn(shown)
    assert shown.locator("#ranks .surface").text_content() != before
    low, high = window(shown)
    assert (low, high) == pytest.approx((0, 379 / 16), abs=1.5)
    shown.locator("#ranks").get_by_role("button", name="Show the whole run").click()
    wait_until_drawn(shown)
    assert shown.locator("#ranks .surface").text_content() == before


@pytest.mark.long
def test_marks_of_the_cycle(open_page: OpenPage) -> None:
    report = reports.full()
    shown = open_page(report)
    assert shown.locator(f"{TIMELINE} .turn").count() == 0
    shown.get_by_label("turns of the cycle of 30").check()
    wait_until_drawn(shown)
    assert shown.locator(f"{TIMELINE} .turn").count() == 13
    shown.get_by_label("turns of the cycle of 30").uncheck()
    wait_until_drawn(shown)
    assert shown.locator(f"{TIMELINE} .turn").count() == 0


@pytest.mark.long
def test_stacked_and_single_timelines(open_page: OpenPage) -> None:
    report = reports.full()
    shown = open_page(report)
    drawn = shown.locator(f"{TIMELINE} path.write").get_attribute("d")
    shown.get_by_label("stacked").check()
    wait_until_drawn(shown)
    assert shown.locator(f"{TIMELINE} path.write").get_attribute("d") != drawn
    shown.get_by_label("reads up").check()
    offsets = report["offsets"][2]
    shown.locator("#timeline").get_by_label("Show", exact=True).select_option(offsets["file"])
    wait_until_drawn(shown)
    read, wrote = (sum(map(sum, offsets[side])) for side in ("read", "write"))
    assert f"read {amount(read)}, wrote {amount(wrote)}" in text(shown, "#in-view")
    shown.locator("#timeline").get_by_label("Show", exact=True).select_option("rank 3")
    wait_until_drawn(shown)
    assert f"moved {amount(sum(report['ranks']['bytes'][3]))}" in text(shown, "#in-view")
    assert shown.locator(f"{TIMELINE} path.both").count() == 1


@pytest.mark.long
def test_table_sorts_and_filters(open_page: OpenPage) -> None:
    report = reports.huge()
    shown = open_page(report)
    rows = shown.locator("#files tbody tr")
    names = "#files tbody th"
    assert rows.count() == 20
    assert texts(shown, names) == [row["name"] for row in report["files"][:20]]
    shown.locator("#files").get_by_role("button", name="Show all 1,000 files").click()
    assert rows.count() == 1000
    heading = shown.locator("#files thead th", has=shown.get_by_role("button", name="File", exact=True))
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert texts(shown, names) == sorted(row["name"] for row in report["files"])
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert texts(shown, names)[0] == max(row["name"] for row in report["files"])
    assert shown.locator("#files thead th[aria-sort]").count() == 1
    shown.get_by_label("Find files").fill("PART-0001 swapping")
    expected = [row["name"] for row in report["files"] if "part-0001" in row["name"]]
    assert sorted(texts(shown, names)) == sorted(expected)
    assert text(shown, "#files .status") == f"{len(expected)} of {_words.count_text(1000, 'file')}"
    shown.get_by_label("Find files").fill("no such file")
    assert rows.count() == 0
    shown.get_by_label("Find files").fill("")
    assert rows.count() == 1000
    assert "98,312 files with 115 GiB" in text(shown, "#files .remark")


@pytest.mark.long
def test_choosing_a_file_draws_its_map(open_page: OpenPage) -> None:
    report = reports.full()
    shown = open_page(report)

    def cells() -> str:
        shown.locator("#offsets .plot").scroll_into_view_if_needed()
        wait_until_drawn(shown)
        return shown.locator("#offsets canvas").evaluate("(canvas) => canvas.toDataURL()")

    first = cells()
    shown.locator("#files").get_by_role("button", name="data/section3.dat").click()
    assert cells() != first
    assert shown.locator("#offsets").get_by_label("File").input_value() == "data/section3.dat"
    assert "data/section3.dat" in shown.locator("#offsets .plot").get_attribute("aria-label")
    assert texts(shown, '#files button[aria-pressed="true"]') == ["data/section3.dat"]
    both = cells()
    shown.locator("#offsets").get_by_label("writes", exact=True).check()
    writes = cells()
    shown.locator("#offsets").get_by_label("reads", exact=True).check()
    assert len({both, writes, cells()}) == 3
    shown.locator("#offsets").get_by_label("File").select_option("data/section0.dat")
    shown.locator("#offsets").get_by_label("reads and writes").check()
    assert cells() == first
    shown.locator("#files").get_by_role("button", name="venus.in").click()
    assert "venus.in is not among them" in text(shown, "#offsets .remark")
    assert shown.locator("#offsets canvas").count() == 0


@pytest.mark.long
def test_maps_read_out_their_cells(open_page: OpenPage) -> None:
    report = reports.full()
    shown = open_page(report)
    bytes_by_rank = report["ranks"]["bytes"]
    shown.locator("#ranks .plot").focus()
    shown.keyboard.press("Home")
    for _ in range(3):
        shown.keyboard.press("ArrowDown")
    shown.keyboard.press("ArrowRight")
    assert f"rank 2: {amount(bytes_by_rank[2][1])} moved in " in readout(shown, "ranks")
    shown.keyboard.press("ArrowUp")
    assert f"rank 1: {amount(bytes_by_rank[1][1])} moved in " in readout(shown, "ranks")
    left, right, top, bottom = area(shown, "#ranks .plot")
    height = (bottom + 10 - (top - 30) - 8) / 8
    shown.mouse.move(left + (right - left) * 24.5 / 128, top - 30 + 8 + 5.5 * height)
    assert f"rank 5: {amount(bytes_by_rank[5][24])} moved in " in readout(shown, "ranks")
    offsets = report["offsets"][0]
    shown.locator("#offsets .plot").focus()
    shown.keyboard.press("Home")
    shown.keyboard.press("ArrowUp")
    assert f"0 B to 146 KiB of the file: read {amount(offsets['read'][0][0])}" in readout(shown, "offsets")


@pytest.mark.long
def test_sizes_read_out_their_bins(open_page: OpenPage) -> None:
    shown = open_page(reports.full())
    shown.locator("#sizes .plot").focus()
    shown.keyboard.press("End")
    assert "22,700 reads (9.54 GiB), 12,100 writes (5.29 GiB)" in readout(shown, "sizes")
    shown.keyboard.press("Home")
    assert readout(shown, "sizes") == "64 B to below 128 B: 101 writes (7.89 KiB)"
    shown.keyboard.press("ArrowRight")
    assert readout(shown, "sizes").endswith("none")


@pytest.mark.long
def test_hostile_names_do_nothing(open_page: OpenPage) -> None:
    shown = open_page(reports.hostile())
    wait_until_drawn(shown)
    assert shown.evaluate("window.pwned") is None
    assert shown.locator("img").count() == 0
    assert reports.HOSTILE[0] in texts(shown, "#files tbody th")
    assert reports.HOSTILE[0] in texts(shown, "#processes tbody td .name")
    shown.locator("#files").get_by_role("button", name=reports.HOSTILE[0]).click()
    wait_until_drawn(shown)
    assert shown.locator("#offsets canvas").count() == 1


def test_policy_blocks_injected_scripts(open_page: OpenPage) -> None:
    shown = open_page(reports.full(16, 2, 8))
    shown.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "window.pwned = 1";
      document.body.append(script);
    }""")
    assert shown.evaluate("window.pwned") is None
    assert shown.evaluate("fetch('https://example.invalid/').then(() => 'sent', () => 'stopped')") == "stopped"
    errors = open_page.errors  # type: ignore[attr-defined]
    for _ in range(100):  # they come from another process
        if len(errors) >= 3:
            break
        wait_until_drawn(shown)
    assert len(errors) == 3
    assert all("Content Security Policy" in each or "Fetch API" in each for each in errors)
    errors.clear()


def test_says_the_max_without_a_script(open_page: OpenPage) -> None:
    shown = open_page(reports.full(), script=False)
    assert shown.locator("h1").inner_text() == "venus"
    assert shown.locator(".conclusion").count() == 4
    assert shown.locator("noscript").is_visible()


@pytest.mark.long
def test_comparison_shares_its_scales(open_page: OpenPage) -> None:
    shown = open_page(page.comparison_text(*reports.comparison()))
    plots = shown.locator("#timeline .plot")
    assert plots.count() == 2
    plots.nth(1).scroll_into_view_if_needed()
    wait_until_drawn(shown)
    surfaces = shown.locator("#timeline .surface")
    assert surfaces.nth(0).text_content() == surfaces.nth(1).text_content().replace("end", "")
    assert shown.locator("#rows tbody tr").count() == 5
    assert "−44 %" in shown.locator("#rows tbody tr").first.inner_text().replace("\u00a0", " ")
    targets = shown.locator("main a[href^='#']").evaluate_all("(all) => all.map((each) => each.getAttribute('href'))")
    assert targets == ["#timeline", "#rows"]
    assert all(shown.locator(target).count() == 1 for target in targets)
    before = surfaces.nth(0).text_content()
    plots.nth(1).focus()
    shown.keyboard.press("Home")
    shown.keyboard.press("+")
    shown.keyboard.press("+")
    wait_until_drawn(shown)
    assert surfaces.nth(0).text_content() != before
