"""`plait demo` shows the report on its ranks' requests."""

import pytest
from launching import needs_mpi, run

import plait.trace


@needs_mpi
def test_demo_shows_everything_but_the_benchmark(tmp_path):
    pytest.importorskip("matplotlib")
    result = run("demo", "--dir", str(tmp_path), "--no-bench")
    assert result.exit_code == 0, result.output
    assert result.output.count("yes") == 9
    assert "NO" not in result.output
    remaining = ["demo.html", "demo.plait", "elevation.npy", "elevation.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == remaining
    traced = plait.trace.report(tmp_path / "demo.plait")
    assert traced["amplification"]["joined"] > 0  # logical requests of the ranks, joined to requests to the file
