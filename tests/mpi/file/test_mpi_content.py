"""All ranks open a file as the format that rank 0 finds in its content, or that `format=` states."""

import numpy as np
import pytest
from same import expect_same_error

import plait

h5py = pytest.importorskip("h5py")

ARRAY = np.arange(48.0, dtype="f4").reshape(12, 4)


@pytest.mark.parametrize("kind", ["npy", "npz", "hdf5", "netcdf", "safetensors", "zarr"])
def test_formats_under_another_ending(comm, shared, kind):
    path = shared / "a.mat"
    layout = plait.Layout(ARRAY.shape, "(block, *)", grid=(comm.size,))
    local = ARRAY[layout.indices(comm.rank)[0]]
    with plait.open(path, "w", comm=comm, shape=ARRAY.shape, dtype="f4", format=kind) as file:
        file.write(local, layout)
    with plait.open(path, comm=comm) as file:
        np.testing.assert_array_equal(file.read(layout), local)
    target = shared / "b.mat"
    plait.copy(path, target, comm=comm, format="zarr")
    with plait.open(target, comm=comm) as file:
        np.testing.assert_array_equal(file.read(layout), local)
    if kind not in ("npz", "safetensors"):
        with plait.open(path, "r+", comm=comm) as file:
            file.write(-local, layout)
        with plait.open(path, comm=comm) as file:
            np.testing.assert_array_equal(file.read(layout), -local)


def test_hdf5_after_a_user_block(comm, shared):
    path = shared / "a.mat"
    if comm.rank == 0:
        with h5py.File(path, "w", userblock_size=512) as file:
            file.create_dataset("g/v", data=ARRAY, chunks=(5, 3), compression="gzip")
    comm.barrier()
    layout = plait.Layout(ARRAY.shape, "(block, *)", grid=(comm.size,))
    with plait.open(f"{path}::/g/v", comm=comm) as file:
        np.testing.assert_array_equal(file.read(layout), ARRAY[layout.indices(comm.rank)[0]])


def test_content_of_no_format(comm, shared):
    path = shared / "a.mat"
    if comm.rank == 0:
        path.write_bytes(bytes(200))
    comm.barrier()
    expect_same_error(
        comm, lambda: plait.open(path, comm=comm), plait.ArgumentError, "the content is of no format that Plait reads"
    )
