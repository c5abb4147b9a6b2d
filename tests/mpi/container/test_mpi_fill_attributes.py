"""Ranks that pass different attributes: `_FillValue` decides how a netCDF file is stored, so all ranks must pass it."""

import numpy as np
import pytest
from same import expect_same_error

import plait

pytest.importorskip("h5py")


@pytest.mark.several_ranks
@pytest.mark.parametrize(("first", "second"), [("_FillValue", "x"), ("x", "_FillValue")])
def test_only_some_ranks_pass_the_fill_value(comm, shared, first, second):
    name = second if comm.rank == comm.size - 1 else first
    path = shared / "a.nc"
    expect_same_error(
        comm,
        lambda: plait.open(path, "w", comm=comm, shape=(1 << 19,), dtype="f8", attributes={name: 7.0}),
        plait.ArgumentError,
        "the ranks of a collective call differ",
    )
    layout = plait.Layout((1 << 19,), "(block)", grid=(comm.size,))
    local = np.arange(float(1 << 19))[layout.indices(comm.rank)[0]] if comm.size > 1 else np.arange(float(1 << 19))
    with plait.open(path, "w", comm=comm, shape=(1 << 19,), dtype="f8", attributes={"_FillValue": 7.0}) as file:
        file.write(local, layout)
    with plait.open(path, comm=comm) as file:
        np.testing.assert_array_equal(file.read(layout), local)
