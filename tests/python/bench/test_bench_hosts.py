"""`plait bench io` with ranks on several hosts: the bytes that cross their links."""

import json
import sys

import numpy as np
import pytest
from launching import needs_mpi, run
from several_hosts_here import hosts_script_output, needs_hosts_and_mpi

from plait_bench.cells import CELLS, CONFORMING
from plait_bench.hosts_table import make_hosts_table
from plait_bench.job import REDISTRIBUTION, TOTAL, Case
from plait_bench.results import CaseResult, CellResult

EXTENT = 67
ITEMSIZE = 8


def find_owners(cell, ranks):
    """Return the owner of each element, from the index sets of all ranks."""
    owner = np.full((EXTENT, EXTENT), -1)
    layout = cell.layout((EXTENT, EXTENT), ranks)
    for rank in range(ranks):
        owner[np.ix_(*layout.indices(rank))] = rank
    return owner


def count_min_crossing(cell, ranks, ranks_per_host):
    """Return the number of bytes over the busiest link in one direction, counted element by element."""
    stored, requested = (find_owners(layout_cell, ranks) // ranks_per_host for layout_cell in (CONFORMING, cell))
    crosses_link = stored != requested
    return ITEMSIZE * max(np.bincount(side[crosses_link], minlength=1).max(initial=0) for side in (stored, requested))


def check_results(document, ranks, ranks_per_host, crosses):
    (case,) = document["cases"]
    assert case["hosts"] == -(-ranks // ranks_per_host)
    assert case["bare_bytes_per_second"] > 0
    for cell, result in zip(CELLS, case["cells"], strict=True):
        assert result["wrong"] == []
        assert result["min_crossing"] == count_min_crossing(cell, ranks, ranks_per_host), cell.name
        if crosses and "redistribution" in result["crossed"]:
            # The messages also have headers, so the links carry more than the minimum.
            assert all(result["min_crossing"] <= carried for carried in result["crossed"]["redistribution"]), cell.name


@needs_mpi
@pytest.mark.long
@pytest.mark.parametrize(
    ("ranks", "ranks_per_host", "operation"), [(4, 2, "--read"), (3, 2, "--write"), (4, 1, "--write")]
)
def test_the_bytes_that_must_cross_are_counted(tmp_path, monkeypatch, ranks, ranks_per_host, operation):
    monkeypatch.setenv("PLAIT_NODE_SIZE", str(ranks_per_host))
    samples = tmp_path / "samples.json"
    result = run("bench", "io", "--doubles", str(EXTENT), "--ranks", str(ranks), "--rounds", "1", operation,
                 "--no-mpiio", "--json", str(samples))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert f"Between {-(-ranks // ranks_per_host)} hosts" in result.output
    check_results(json.loads(samples.read_text()), ranks, ranks_per_host, crosses=False)


@needs_hosts_and_mpi
@pytest.mark.long
def test_the_bytes_that_cross_a_link_are_measured(tmp_path):
    samples = tmp_path / "samples.json"
    hosts_script_output("exec", "--hosts", "2", "--", sys.executable, "-m", "plait.cli", "bench", "io", "--doubles",
         EXTENT, "--ranks", 4, "--rounds", 2, "--no-mpiio", "--dir", tmp_path, "--json", samples)  # fmt: skip
    check_results(json.loads(samples.read_text()), 4, 2, crosses=True)


def test_shares_relate_to_the_bytes_that_must_be_sent():
    cells = [CellResult(cell.name) for cell in CELLS[:3]]
    cells[0].samples[TOTAL] = [1.0]
    cells[0].crossed = {TOTAL: [100]}
    for cell, sent in zip(cells[1:], (4200, 300), strict=True):
        cell.samples = {TOTAL: [2.0], REDISTRIBUTION: [4.0]}
        cell.crossed = {TOTAL: [sent], REDISTRIBUTION: [4100]}
        cell.min_crossing = 4000
    case = CaseResult(Case("float64", EXTENT, "read"), cells, 2, 2500.0)
    assert [case.link_share(cell, TOTAL) for cell in cells] == [None, pytest.approx(0.8), None]
    assert case.link_share(cells[2], REDISTRIBUTION) == pytest.approx(0.4)
    assert make_hosts_table(CaseResult(case.case, cells)) == []
    table = make_hosts_table(case)[1]
    columns = [list(column.cells) for column in table.columns]
    assert columns[3] == ["1.00", "2.00", "2.00"]
    assert columns[4] == ["–", "80%", "–"]
    assert columns[6] == ["–", "40%", "40%"]
