"""Ranks whose files with constants of the cost model differ: all ranks use the constants of rank 0."""

import numpy as np
import pytest
from same import expect_same_error

import plait
from plait.model.calibration import builtin, save
from plait.model.calibration.files import format_constants


@pytest.fixture
def array_file(comm, shared):
    path = shared / "a.npy"
    if comm.rank == 0:
        np.save(path, np.zeros((600, 500)))
    comm.Barrier()
    return path


@pytest.mark.parametrize(("name", "value"), [("request_seconds", 1e-3), ("window_bytes_per_second", 2e3)])
def test_all_ranks_plan_with_the_constants_of_rank_0(comm, shared, array_file, monkeypatch, name, value):
    constants_file = shared / f"{name}.toml"
    if comm.rank == 0:
        save(format_constants({**builtin().values, name: value}, 2), constants_file)
    monkeypatch.setenv("PLAIT_MODEL", str(constants_file if comm.rank == 0 else shared / "none.toml"))
    layout = plait.Layout((600, 500), "(cyclic, *)", grid=(comm.size,))
    with plait.open(array_file, comm=comm) as opened:
        plans = comm.allgather(opened.explain(layout))
        actual = opened.read(layout)
    assert set(plans) == {plans[0]}
    assert f"constants  of {constants_file}\n" in plans[0]
    if comm.size > 1:  # slow windows favor direct access; slow requests favor two-phase access
        assert f"strategy   {'direct' if value > 1 else 'two-phase'}, predicted" in plans[0]
    assert not actual.any()


def test_the_file_that_rank_0_names_must_exist(comm, shared, array_file, monkeypatch):
    monkeypatch.setenv("PLAIT_MODEL", str(shared / "none.toml") if comm.rank == 0 else "builtin")
    expect_same_error(comm, lambda: plait.open(array_file, comm=comm), plait.ArgumentError, "cannot be read")
