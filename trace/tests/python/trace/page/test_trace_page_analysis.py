"""From a trace to the page: a browser shows the counts of the analysis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trace_page_browser import OpenPage, wait_until_drawn

import plait.trace
from plait.trace import EVENT, Counters, Flag, Interface, Kind, page

CYCLES = 40
SIZE = 1 << 16


def make_trace(path: Path, pause: int) -> None:
    """Write a trace of two processes that, in each turn of `pause` ns, read four times and write once."""
    rows = []
    for cycle in range(CYCLES):
        for i in range(5):
            for process in (1, 2):
                kind = Kind.WRITE if i == 4 else Kind.READ
                start = cycle * pause + i * 1_000_000 + process * 1000
                offset = (cycle % 8) * 5 * SIZE + i * SIZE
                rows.append(
                    (start, 400_000, -1, offset, SIZE, SIZE, 0, process, 1, 1, kind, Interface.POSIX, Flag.LOGICAL)
                )
    with plait.trace.create(path) as writer:
        for process in (1, 2):
            writer.add_process(process, rank=process - 1, host="node<1>", command="/opt/solver --quick")
            writer.add_file(process, 1, f"part<{process}>.dat")
        writer.write(np.array(rows, dtype=EVENT))


@pytest.mark.long
def test_page_of_a_trace(open_page: OpenPage, tmp_path: Path) -> None:
    make_trace(tmp_path / "run.plait", 25_000_000)
    report = plait.trace.report(tmp_path / "run.plait")
    target = tmp_path / "run.html"
    report.html(target)
    tab = open_page(target.read_text(encoding="utf-8"))
    assert tab.locator("h1").inner_text() == "solver"
    lead = tab.locator(".lead").inner_text().replace("\u00a0", " ")
    assert lead.startswith("2 processes read 20 MiB and wrote 5 MiB in ")
    assert "with 400 requests of 64 KiB on average, in 2 files." in lead
    assert tab.locator("#files tbody tr").count() == 2
    assert "part<1>.dat" in tab.locator("#files tbody").inner_text()
    for section in tab.locator("main section[id]").all():
        section.scroll_into_view_if_needed()
        wait_until_drawn(tab)
    assert tab.locator("#ranks canvas").count() == 1
    assert tab.locator("#offsets canvas").count() == 1
    assert "read 20" in tab.locator("#in-view").inner_text()
    known = tab.locator("main section[id]").evaluate_all("(all) => all.map((each) => each.id)")
    links = tab.locator(".evidence a").evaluate_all("(all) => all.map((each) => each.getAttribute('href').slice(1))")
    assert len(links) == len(report["conclusions"])
    assert set(links) <= set(known)


@pytest.mark.long
def test_page_of_a_comparison(open_page: OpenPage, tmp_path: Path) -> None:
    make_trace(tmp_path / "a.plait", 25_000_000)
    make_trace(tmp_path / "b.plait", 50_000_000)
    compared = plait.trace.compare(tmp_path / "a.plait", tmp_path / "b.plait")
    compared.html(tmp_path / "changes.html")
    tab = open_page((tmp_path / "changes.html").read_text(encoding="utf-8"))
    assert tab.locator("#timeline .plot").count() == 2
    wait_until_drawn(tab)
    assert tab.locator("#rows tbody tr").count() == min(20, len(compared["rows"]))
    assert "a.plait" in tab.locator(".sides").inner_text()


def test_page_of_a_trace_without_events(open_page: OpenPage, tmp_path: Path) -> None:
    with plait.trace.create(tmp_path / "none.plait"):
        pass
    tab = open_page(page.page_text(plait.trace.report(tmp_path / "none.plait")))
    assert tab.locator("h1").inner_text() == "none.plait"
    assert "No reads or writes" in tab.locator("#timeline").inner_text()


@pytest.mark.long
def test_page_of_counters(open_page: OpenPage, tmp_path: Path) -> None:
    whole = Counters(0, 0, Interface.UNKNOWN, Flag.LOGICAL, {"run_ns": 10**10, "processes": 4})
    values = {"reads": 3000, "writes": 0, "read_bytes": 3_072_000, "write_bytes": 0, "read_ns": 10**9, "opens": 1}
    values |= {"reads_of_1001_to_2000": 3000, "consecutive_reads": 2000, "sequential_reads": 400}
    values |= {"calls_of_1024": 3000}
    with plait.trace.create(tmp_path / "counted.plait") as writer:
        writer.add_process(1, rank=0, command="/opt/solver --quick")
        writer.add_file(1, 1, "part<1>.dat")
        writer.finish(counters=[whole, Counters(1, 1, Interface.POSIX, Flag.LOGICAL, values)])
    report = plait.trace.report(tmp_path / "counted.plait")
    tab = open_page(page.page_text(report))
    assert tab.locator("h1").inner_text() == "solver"
    lead = tab.locator(".lead").inner_text().replace("\u00a0", " ")
    assert lead.startswith("4 processes read 2.93 MiB in 10 s, with 3,000 requests of 1 KiB on average, in 1 file.")
    sections = tab.locator("main section[id]").evaluate_all("(all) => all.map((each) => each.id)")
    assert sections == ["conclusions", "counters", "tables", "trace"]
    text = tab.locator("#counters").inner_text().replace("\u00a0", " ")
    assert "part<1>.dat" in text
    assert "599 to 600" in text
    assert {each["evidence"] for each in report["conclusions"]} == {"counters"}
