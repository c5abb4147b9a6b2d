"""Files that hold several arrays, on several ranks."""

import zipfile

import numpy as np
import pytest
from same import expect_same_error

import plait

SHAPE = (120, 150)
ARRAYS = {
    "a": np.random.default_rng(5).integers(0, 500, SHAPE).astype("i4"),
    "b": np.asfortranarray(np.random.default_rng(6).random(SHAPE)),
}


def open_array(comm, path, save, **options):
    if comm.rank == 0:
        save(path, **ARRAYS)
    comm.barrier()
    return plait.open(f"{path}::b", comm=comm, **options)


@pytest.mark.parametrize("dist", ["(block, *)", "(*, cyclic(40))", "(cyclic(3), *)"])
@pytest.mark.parametrize("strategy", ["two-phase", "direct"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_each_rank_gets_its_part(comm, shared, save, dist, strategy):
    layout = plait.Layout(SHAPE, dist, grid=(comm.size,))
    with open_array(comm, shared / "a.npz", save, strategy=strategy, memory=1 << 16) as file:
        local = file.read(layout)
    np.testing.assert_array_equal(local, ARRAYS["b"][np.ix_(*layout.indices(comm.rank))])


@pytest.mark.parametrize("suffix", ["npz", "safetensors", "h5"])
def test_all_ranks_write_one_file(comm, shared, suffix):
    if suffix == "h5":
        pytest.importorskip("h5py")
    path = shared / f"a.{suffix}"
    layout = plait.Layout(SHAPE, "(cyclic(7), *)", grid=(comm.size,))
    local = {name: np.ascontiguousarray(array[np.ix_(*layout.indices(comm.rank))]) for name, array in ARRAYS.items()}
    arrays = {"a": (SHAPE, "i4"), "b": (SHAPE, "f8", "F" if suffix == "npz" else "C")}
    with plait.open(path, "w", comm=comm, arrays=arrays) as file:
        for name in ("b", "a"):
            file.write(local[name], layout, variable=name)
    for name, array in ARRAYS.items():
        with plait.open(f"{path}::{name}", comm=comm) as file:
            np.testing.assert_array_equal(file.read(layout), local[name])
        np.testing.assert_array_equal(plait.open(f"{path}::{name}").read(), array)
    if suffix == "npz":
        assert zipfile.ZipFile(path).testzip() is None


def test_record_variables_of_netcdf(comm, shared):
    scipy = pytest.importorskip("scipy.io")
    path = shared / "a.nc"
    if comm.rank == 0:
        with scipy.netcdf_file(path, "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", SHAPE[1])
            for name, array in ARRAYS.items():
                file.createVariable(name, array.dtype, ("time", "x"))[:] = array
    comm.barrier()
    layout = plait.Layout(SHAPE, "(cyclic(7), *)", grid=(comm.size,))
    for name, array in ARRAYS.items():
        with plait.open(f"{path}::{name}", comm=comm) as file:
            np.testing.assert_array_equal(file.read(layout), array[np.ix_(*layout.indices(comm.rank))])


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dist", ["(block, *)", "(cyclic(7), *)", "(*, cyclic(3))"])
def test_zarr_chunks_in_separate_files(comm, shared, compressed, dist):
    zarr = pytest.importorskip("zarr")
    path = shared / "a.zarr"
    if comm.rank == 0:
        storage = {"compressors": zarr.codecs.ZstdCodec() if compressed else None}
        for name, array in ARRAYS.items():
            stored = zarr.create_array(path / name, shape=SHAPE, chunks=(50, 37), dtype=array.dtype, **storage)
            stored[...] = array
    comm.barrier()
    layout = plait.Layout(SHAPE, dist, grid=(comm.size,))
    for name, array in ARRAYS.items():
        with plait.open(f"{path}::/{name}", comm=comm, memory=1 << 16) as file:
            np.testing.assert_array_equal(file.read(layout), array[np.ix_(*layout.indices(comm.rank))])


@pytest.mark.parametrize("storage", [{}, {"chunks": (50, 37)}, {"chunks": (50, 37), "compression": "gzip"}])
@pytest.mark.parametrize("dist", ["(block, *)", "(cyclic(7), *)", "(*, cyclic(3))"])
def test_datasets_without_a_parallel_library(comm, shared, storage, dist):
    h5py = pytest.importorskip("h5py")
    path = shared / "a.h5"
    if comm.rank == 0:
        with h5py.File(path, "w") as file:
            for name, array in ARRAYS.items():
                file.create_dataset(f"g/{name}", data=array, **storage)
    comm.barrier()
    layout = plait.Layout(SHAPE, dist, grid=(comm.size,))
    for name, array in ARRAYS.items():
        local = np.ascontiguousarray(array[np.ix_(*layout.indices(comm.rank))])
        with plait.open(f"{path}::/g/{name}", comm=comm, memory=1 << 16) as file:
            np.testing.assert_array_equal(file.read(layout), local)
        with plait.open(f"{path}::/g/{name}", "r+", comm=comm, memory=1 << 16) as file:
            file.write(-local, layout)
        comm.barrier()
        with h5py.File(path) as file:
            np.testing.assert_array_equal(file[f"g/{name}"][...], -array)
        comm.barrier()


@pytest.mark.parametrize("codec", ["none", "zstd:1"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dist", ["(block, *)", "(cyclic(7), *)", "(*, cyclic(3))"])
def test_all_ranks_write_chunks_that_cross_their_parts(comm, shared, codec, order, dist):
    zarr = pytest.importorskip("zarr")
    layout = plait.Layout(SHAPE, dist, grid=(comm.size,))
    local = np.ascontiguousarray(ARRAYS["a"][np.ix_(*layout.indices(comm.rank))])
    storage = {"shape": SHAPE, "dtype": "i4", "chunks": (50, 37), "codec": codec, "order": order}
    for memory in (0, 1 << 13):
        with plait.open(f"{shared}/a.zarr::/x", "w", comm=comm, memory=memory, **storage) as file:
            file.write(local, layout)
        np.testing.assert_array_equal(zarr.open_array(shared / "a.zarr" / "x", mode="r")[...], ARRAYS["a"])
        region = np.s_[11:101:3, 20:140]
        part = plait.Layout(ARRAYS["a"][region].shape, "(cyclic, *)", grid=(comm.size,))
        with plait.open(f"{shared}/a.zarr::/x", "r+", comm=comm, memory=memory) as file:
            for value in (3, 4):
                file.write(np.full(part.local_shape(comm.rank), value, "i4"), part, region=region)
                assert (file.read(part, region=region) == value).all()
        expected = ARRAYS["a"].copy()
        expected[region] = 4
        np.testing.assert_array_equal(zarr.open_array(shared / "a.zarr" / "x", mode="r")[...], expected)
        comm.barrier()


@pytest.mark.parametrize("codec", ["none", "zstd:1"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dist", ["(block, *)", "(cyclic(7), *)", "(*, cyclic(3))"])
def test_all_ranks_write_shards_that_cross_their_parts(comm, shared, codec, order, dist):
    zarr = pytest.importorskip("zarr")
    layout = plait.Layout(SHAPE, dist, grid=(comm.size,))
    local = np.ascontiguousarray(ARRAYS["a"][np.ix_(*layout.indices(comm.rank))])
    storage = {"shape": SHAPE, "dtype": "i4", "chunks": (10, 7), "shards": (50, 35), "codec": codec, "order": order}
    region = np.s_[11:101:3, 20:140]
    part = plait.Layout(ARRAYS["a"][region].shape, "(cyclic, *)", grid=(comm.size,))
    expected = ARRAYS["a"].copy()
    expected[region] = 4
    for memory in (0, 1 << 13):
        with plait.open(shared / "a.zarr", "w", comm=comm, memory=memory, **storage) as file:
            file.write(local, layout)
            for value in (3, 4):
                file.write(np.full(part.local_shape(comm.rank), value, "i4"), part, region=region)
                assert (file.read(part, region=region) == value).all()
        np.testing.assert_array_equal(zarr.open_array(shared / "a.zarr", mode="r")[...], expected)
        comm.barrier()
        with plait.open(shared / "a.zarr", "r+", comm=comm, memory=memory) as file:
            for value in (5, 6):
                file.write(np.full(part.local_shape(comm.rank), value, "i4"), part, region=region)
                assert (file.read(part, region=region) == value).all()
        expected_change = expected.copy()
        expected_change[region] = 6
        np.testing.assert_array_equal(zarr.open_array(shared / "a.zarr", mode="r")[...], expected_change)
        comm.barrier()


def test_copies_into_other_chunks_by_all_ranks(comm, shared):
    zarr = pytest.importorskip("zarr")
    storage = {"comm": comm, "codec": "zstd:1"}
    for source, target, chunks in [("a.npy", "a.zarr", (10, 150)), ("a.zarr", "b.zarr", (120, 9))]:
        if source == "a.npy" and comm.rank == 0:
            np.save(shared / source, ARRAYS["b"])
        comm.barrier()
        plait.copy(shared / source, shared / target, chunks=chunks, memory=1 << 15, **storage)
    np.testing.assert_array_equal(zarr.open_array(shared / "b.zarr", mode="r")[...], ARRAYS["b"])
    comm.barrier()
    assert not [entry for entry in shared.iterdir() if "scratch" in entry.name]


@pytest.mark.parametrize("codec", ["none", "gzip:1", "shuffle,gzip:4"])
@pytest.mark.parametrize("dist", ["(block, *)", "(cyclic(7), *)", "(*, cyclic(3))"])
def test_all_ranks_compress_chunks_of_one_dataset(comm, shared, codec, dist):
    h5py = pytest.importorskip("h5py")
    layout = plait.Layout(SHAPE, dist, grid=(comm.size,))
    local = np.ascontiguousarray(ARRAYS["a"][np.ix_(*layout.indices(comm.rank))])
    region = np.s_[11:101:3, 20:140]
    expected = ARRAYS["a"].copy()
    expected[region] = 4
    part = plait.Layout(expected[region].shape, "(cyclic, *)", grid=(comm.size,))
    for memory in (0, 1 << 13):
        storage = {"shape": SHAPE, "dtype": "i4", "chunks": (50, 37), "codec": codec, "memory": memory}
        with plait.open(f"{shared}/a.h5::/g/x", "w", comm=comm, **storage) as file:
            file.write(local, layout)
            # These accesses change chunks that another rank has written.
            for value in (3, 4):
                file.write(np.full(part.local_shape(comm.rank), value, "i4"), part, region=region)
        comm.barrier()
        with h5py.File(shared / "a.h5") as file:
            np.testing.assert_array_equal(file["g/x"][...], expected)
        comm.barrier()


def test_copies_by_all_ranks(comm, shared):
    if comm.rank == 0:
        np.savez(shared / "a.npz", **ARRAYS)
    comm.barrier()
    plait.copy(shared / "a.npz", shared / "b.safetensors", comm=comm, memory=1 << 17)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(plait.open(f"{shared}/b.safetensors::{name}").read(), array)


def test_errors_are_the_same_on_every_rank(comm, shared):
    if comm.rank == 0:
        np.savez(shared / "a.npz", **ARRAYS)
        (shared / "b.npz").write_bytes(b"PK" + bytes(100))
    comm.barrier()
    expect_same_error(
        comm, lambda: plait.open(shared / "a.npz", comm=comm), plait.ArgumentError, "holds 2 arrays: a, b"
    )
    expect_same_error(comm, lambda: plait.open(f"{shared}/a.npz::c", comm=comm), plait.ArgumentError, "no array")
    expect_same_error(comm, lambda: plait.open(shared / "b.npz", comm=comm), plait.StoreError, "without a directory")
    arrays = {"a": (3 + (comm.rank == 1), "i4")}
    if comm.size > 1:
        expect_same_error(
            comm, lambda: plait.open(shared / "c.npz", "w", comm=comm, arrays=arrays), plait.ArgumentError, ""
        )
