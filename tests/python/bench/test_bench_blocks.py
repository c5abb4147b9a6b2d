"""`plait bench blocks`: blocks of arrays of several dimensions, compared with MPI-IO."""

import json
import math

import pytest
from launching import needs_mpi, run

from plait_bench.blocks.job import Blocks


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_each_access_is_measured_and_checked(tmp_path, ranks):
    samples = tmp_path / "samples.json"
    result = run("bench", "blocks", "--megabytes", "2", "--rounds", "2", "--ranks", str(ranks), "--dir", str(tmp_path),
                 "--json", str(samples))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Every byte of every access was checked." in result.output
    document = json.loads(samples.read_text())
    assert [(len(result["shape"]), result["gaps"]) for result in document["cases"]] == [
        (3, False),
        (3, True),
        (4, False),
        (4, True),
    ]
    for case in document["cases"]:
        assert math.prod(case["shape"]) == 2 << 17
        assert math.prod(case["grid"]) == ranks
        assert set(case["seconds"]) == {"read plait", "read mpi-io", "write plait", "write mpi-io"}
        assert all(len(times) == 2 and min(times) > 0 for times in case["seconds"].values())
    assert [path.name for path in tmp_path.iterdir()] == ["samples.json"]


@pytest.mark.parametrize(
    ("ranks", "grid", "run_bytes"),
    [(1, (1, 1, 1), 8 * 4 * 6 * 10), (2, (1, 1, 2), 8 * 5), (4, (1, 2, 2), 8 * 5), (6, (1, 2, 3), 8 * 4),
     (16, (2, 2, 4), 8 * 3)],
)  # fmt: skip
def test_grids_divide_the_last_dimensions_first(ranks, grid, run_bytes):
    blocks = Blocks((4, 6, 10))
    assert blocks.grid(ranks) == grid
    assert blocks.run_bytes(ranks) == run_bytes
