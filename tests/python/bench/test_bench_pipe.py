"""`plait bench pipe`: an array from writers to readers, compared with a plain copy and with files."""

import json

import pytest
from launching import needs_mpi, run

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
from plait_bench.pipe.job import CELLS


@needs_mpi
def test_each_pair_of_layouts_and_sides_is_measured(tmp_path, effort):
    sides = effort.choose("2:1", "1:1,3:2")
    samples, chart = tmp_path / "samples.json", tmp_path / "chart.png"
    result = run("bench", "pipe", "--size", "60", "--sides", sides, "--rounds", "2", "--steps", "3", "--small", "5",
                 "--json", str(samples), "--chart", str(chart))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "WRONG" not in result.output
    document = json.loads(samples.read_text())
    for cell in CELLS:
        assert cell.name in result.output
    assert [(result["writers"], result["readers"]) for result in document["small"]] == effort.choose(
        [(2, 1)], [(1, 1), (3, 2)]
    )
    for case in document["small"]:
        assert len(case["halves"]) == 5
        assert min(case["halves"]) > 0
        assert min(case["paused"]) > 0
    assert all(0 < cell["opening"] < 60 for cell in document["cells"])
    text = json.dumps(document)
    assert all(transfer in text for transfer in ("pipe", "bound", "file", "mpi"))
    assert chart.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("sides", ["4", "0:1", "4:x", "1:2:3"])
def test_invalid_sides_are_errors(sides):
    result = run("bench", "pipe", "--sides", sides)
    assert result.exit_code == 2
    assert f"'{sides}' is not ranks of a writer and a reader such as 4:1" in result.output
