"""Datasets that Plait reads by HDF5's library on each rank: a scale-offset filter, external files, virtual datasets."""

import numpy as np
import pytest
from same import expect_same_error

import plait

h5py = pytest.importorskip("h5py")

SHAPE = (23, 31, 12)
ARRAY = np.random.default_rng(3).integers(0, 4000, SHAPE).astype("i4")


def write_files(folder):
    with h5py.File(folder / "source.h5", "w") as file:
        file.create_dataset("t", data=ARRAY[:9], chunks=(4, 31, 5), compression="gzip")
    ARRAY.tofile(folder / "raw.bin")
    with h5py.File(folder / "a.h5", "w") as file:
        file.create_dataset("scaled", data=ARRAY, chunks=(5, 8, 12), scaleoffset=0)
        file.create_dataset("outside", SHAPE, "i4", external=[("raw.bin", 0, ARRAY.nbytes)])
        layout = h5py.VirtualLayout(SHAPE, "i4")
        layout[:9] = h5py.VirtualSource("source.h5", "t", (9, *SHAPE[1:]))
        layout[9:] = h5py.VirtualSource(".", "scaled", SHAPE)[9:]
        file.create_virtual_dataset("virtual", layout)
        file["link"] = h5py.ExternalLink("source.h5", "/t")
        chunk = file["scaled"].id.get_chunk_info(8)
    content = bytearray((folder / "a.h5").read_bytes())
    content[chunk.byte_offset : chunk.byte_offset + 4] = b"\xff\xff\xff\x7f"
    (folder / "damaged.h5").write_bytes(content)


@pytest.mark.parametrize("memory", [0, 1 << 14])
@pytest.mark.parametrize("dist", ["(cyclic, *, *)", "(*, block, *)", "(*, cyclic(3), *)", "(block, *, *)"])
@pytest.mark.parametrize("name", ["scaled", "outside", "virtual", "link"])
def test_layouts(comm, shared, name, dist, memory):
    if comm.rank == 0:
        write_files(shared)
    comm.barrier()
    array = ARRAY[:9] if name == "link" else ARRAY
    with plait.open(shared / f"a.h5::{name}", comm=comm, memory=memory) as file:
        layout = plait.Layout(array.shape, dist, grid=(comm.size,))
        np.testing.assert_array_equal(file.read(layout), array[np.ix_(*layout.indices(comm.rank))])
        part = array[1:8:2, :, 3:11]
        layout = plait.Layout(part.shape, "(*, *, block)", grid=(comm.size,))
        local = file.read(layout, region=np.s_[1:8:2, :, 3:11])
        np.testing.assert_array_equal(local, part[np.ix_(*layout.indices(comm.rank))])


def test_a_damaged_chunk_fails_on_all_ranks(comm, shared):
    if comm.rank == 0:
        write_files(shared)
    comm.barrier()
    with plait.open(shared / "damaged.h5::scaled", comm=comm) as file:
        layout = plait.Layout(SHAPE, "(block, *, *)", grid=(comm.size,))
        expect_same_error(comm, lambda: file.read(layout), plait.StoreError, "damaged.h5::scaled: HDF5")
