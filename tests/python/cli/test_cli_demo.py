"""`plait demo` without the other products: everything except the report and the benchmark, on real ranks."""

import sys

import pytest
from launching import needs_mpi, run

import plait


@needs_mpi
def test_demo_runs_without_the_trace_product(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.delattr(plait, "trace", raising=False)
    monkeypatch.setitem(sys.modules, "plait.trace", None)
    result = run("demo", "--dir", str(tmp_path), "--no-bench")
    assert result.exit_code == 0, result.output
    assert result.output.count("yes") == 9
    assert "NO" not in result.output
    assert "was built without it" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo.plait", "elevation.npy", "elevation.png"]
