"""Arrays that the ranks of a communicator extend together."""

import functools

import numpy as np
import pytest
from mpi4py import MPI
from same import expect_same_error

import plait

COMM = MPI.COMM_WORLD


def make_block(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 100, shape).astype("i4")


@pytest.mark.parametrize("options", [{}, {"codec": "zstd:1"}, {"codec": "zstd:1", "shards": (4, 6)}])
@pytest.mark.parametrize("axis", [0, 1])
def test_ranks_append_blocks(shared, options, axis):
    url = shared / "a.zarr"
    global_array = make_block((5, 7), 0)
    rows = plait.Layout(global_array.shape, "(block, *)", grid=(COMM.size,))
    with plait.open(url, "a", comm=COMM, shape=(5, 7), dtype="i4", chunks=(2, 3), **options) as file:
        file.write(global_array[np.ix_(*rows.indices(COMM.rank))], rows)
    for size in (3, 0, 5):
        shape = [*global_array.shape]
        shape[axis] = size
        block = make_block(tuple(shape), size)
        layout = plait.Layout(block.shape, "(cyclic, *)", grid=(COMM.size,))
        with plait.open(url, "a", comm=COMM) as file:
            file.append(block[np.ix_(*layout.indices(COMM.rank))], layout, axis)
            global_array = np.concatenate((global_array, block), axis)
            assert file.shape == global_array.shape
    with plait.open(url, comm=MPI.COMM_SELF) as file:
        np.testing.assert_array_equal(
            file.read(plait.Layout(global_array.shape, "(block, *)", grid=(1,))), global_array
        )
    COMM.Barrier()
    with plait.open(url, "a", comm=COMM) as file:
        file.resize((3, 4))
        file.resize((6, 9))
    with plait.open(url, comm=MPI.COMM_SELF) as file:
        actual = file.read(plait.Layout((6, 9), "(block, *)", grid=(1,)))
    np.testing.assert_array_equal(actual[:3, :4], global_array[:3, :4])
    assert not actual[3:].any()
    assert not actual[:, 4:].any()
    COMM.Barrier()


def test_errors_are_the_same_everywhere(shared):
    url = shared / "b.zarr"
    with plait.open(url, "a", comm=COMM, shape=(0, 4), dtype="i4") as file:
        layout = plait.Layout((2, 5), "(block, *)", grid=(COMM.size,))
        block = np.zeros(layout.local_shape(COMM.rank), "i4")
        text_part = "block of shape 2x5 along axis 0 of an array of shape 0x4"
        expect_same_error(COMM, lambda: file.append(block, layout), plait.ArgumentError, text_part)
    missing = shared / "none.zarr"
    expect_same_error(COMM, lambda: plait.open(missing, "a", comm=COMM), plait.ArgumentError, "does not exist")


def read_alone(url):
    with plait.open(url, comm=MPI.COMM_SELF) as file:
        return file.read(plait.Layout(file.shape, ["block", "*"], grid=(1,)))


@pytest.mark.parametrize("options", [{}, {"codec": "zlib:1"}])
@pytest.mark.parametrize("axis", [0, 1])
def test_ranks_append_blocks_to_hdf5(shared, options, axis):
    url = f"{shared / 'a.h5'}::/v"
    global_array = make_block((5, 7), 0)
    rows = plait.Layout(global_array.shape, "(block, *)", grid=(COMM.size,))
    description = {"shape": (5, 7), "dtype": "i4", "chunks": (2, 3), "unlimited": [0, 1], **options}
    with plait.open(url, "w", comm=COMM, **description) as file:
        file.write(global_array[np.ix_(*rows.indices(COMM.rank))], rows)
    for sizes in ((3, 0, 5), (4,)):
        with plait.open(url, "a", comm=COMM) as file:
            for size in sizes:
                shape = [*global_array.shape]
                shape[axis] = size
                block = make_block(tuple(shape), size)
                layout = plait.Layout(block.shape, "(cyclic, *)", grid=(COMM.size,))
                file.append(block[np.ix_(*layout.indices(COMM.rank))], layout, axis)
                global_array = np.concatenate((global_array, block), axis)
                assert file.shape == global_array.shape
        np.testing.assert_array_equal(read_alone(url), global_array)
        COMM.Barrier()
    with plait.open(url, "a", comm=COMM) as file:
        file.resize((3, 4))
        file.resize((6, 9))
        layout = plait.Layout((2, 9), "(cyclic, *)", grid=(COMM.size,))
        file.append(np.ones(layout.local_shape(COMM.rank), "i4"), layout)
    actual = read_alone(url)
    np.testing.assert_array_equal(actual[:3, :4], global_array[:3, :4])
    assert not actual[3:6].any()
    assert not actual[:6, 4:].any()
    assert actual[6:].all()
    COMM.Barrier()


@pytest.mark.parametrize("options", [{}, {"codec": "zlib:1"}])
def test_ranks_append_again_after_a_smaller_shape(shared, options):
    """The smaller shape contains no element of the appended chunks, but later blocks are still stored after them."""
    url = f"{shared / 'b.h5'}::/v"
    global_array, first, second = make_block((4, 4), 0), make_block((8, 4), 1), make_block((8, 4), 2)
    rows = plait.Layout(global_array.shape, "(block, *)", grid=(COMM.size,))
    description = {"shape": global_array.shape, "dtype": "i4", "chunks": (2, 4), "unlimited": [0], **options}
    with plait.open(url, "w", comm=COMM, **description) as file:
        file.write(global_array[np.ix_(*rows.indices(COMM.rank))], rows)
    layout = plait.Layout(first.shape, "(block, *)", grid=(COMM.size,))
    with plait.open(url, "a", comm=COMM) as file:
        file.append(first[np.ix_(*layout.indices(COMM.rank))], layout)
        file.resize((2, 4))
        file.append(second[np.ix_(*layout.indices(COMM.rank))], layout)
    np.testing.assert_array_equal(read_alone(url), np.concatenate((global_array[:2], second)))
    COMM.Barrier()


@pytest.mark.parametrize("options", [{}, {"chunks": (2, 3)}, {"chunks": (2, 3), "codec": "zlib:1"}])
@pytest.mark.parametrize("layout", ["(block, *)", "(cyclic, *)", "(*, cyclic(2))"])
def test_ranks_add_arrays_to_hdf5(shared, options, layout):
    path = shared / "added.h5"
    first, second = make_block((5, 7), 0), make_block((6, 8), 1)
    if COMM.rank == 0:
        with plait.open(f"{path}::/first", "w", shape=first.shape, dtype="i4") as file:
            file.write(first)
    COMM.Barrier()
    parts = plait.Layout(second.shape, layout, grid=(COMM.size,))
    with plait.open(f"{path}::/g/second", "a", comm=COMM, shape=(6, 8), dtype="i4", **options) as file:
        file.write(second[np.ix_(*parts.indices(COMM.rank))], parts)
        np.testing.assert_array_equal(file.read(parts), second[np.ix_(*parts.indices(COMM.rank))])
    with plait.open(f"{path}::/third", "a", comm=COMM, shape=(0, 8), dtype="i4", unlimited=[0], **options) as file:
        for _ in range(2):
            file.append(second[np.ix_(*parts.indices(COMM.rank))], parts)
    for name, expected in (("first", first), ("g/second", second), ("third", np.concatenate((second, second)))):
        np.testing.assert_array_equal(read_alone(f"{path}::/{name}"), expected)
    COMM.Barrier()
    description = {"shape": (6, 8), "dtype": "i4"}
    for name, text_part in (("g", "is a group"), ("first/v", "is not a group in the file")):
        add = functools.partial(plait.open, f"{path}::/{name}", "a", comm=COMM, **description)
        expect_same_error(COMM, add, plait.ArgumentError, text_part)
    COMM.Barrier()


def test_ranks_add_variables_to_classic_netcdf(shared):
    path = shared / "added.nc"
    if COMM.rank == 0:
        path.write_bytes(b"CDF\x01" + bytes(28))  # a file without dimensions and variables
    COMM.Barrier()
    array = make_block((6, 8), 1).astype(">i4")
    parts = plait.Layout(array.shape, "(cyclic, *)", grid=(COMM.size,))
    part = array[np.ix_(*parts.indices(COMM.rank))]
    description = {"shape": array.shape, "dtype": ">i4", "dimension_names": ("y", "x")}
    with plait.open(f"{path}::v", "a", comm=COMM, **description) as file:
        file.write(part, parts)
        np.testing.assert_array_equal(file.read(parts), part)
        layout = plait.Layout((1, 8), "(block, *)", grid=(COMM.size,))
        row = np.zeros(layout.local_shape(COMM.rank), ">i4")
        expect_same_error(COMM, lambda: file.append(row, layout), plait.ArgumentError, "cannot grow")
    np.testing.assert_array_equal(read_alone(f"{path}::v"), array)
    COMM.Barrier()
    add = functools.partial(plait.open, f"{path}::w", "a", comm=COMM, **description)
    expect_same_error(COMM, add, plait.ArgumentError, "but there are 0 before the first variable")
    COMM.Barrier()


def test_an_array_that_a_rank_abandons_is_not_added(shared):
    path = shared / "failed.h5"
    if COMM.rank == 0:
        with plait.open(f"{path}::/first", "w", shape=4, dtype="i4") as file:
            file.write(np.arange(4, dtype="i4"))
    COMM.Barrier()
    layout = plait.Layout((6, 8), "(block, *)", grid=(COMM.size,))
    part = np.zeros(layout.local_shape(COMM.rank), "i4")

    def add():
        with plait.open(f"{path}::/second", "a", comm=COMM, shape=(6, 8), dtype="i4") as file:
            file.write(part, layout)
            file.write(part, layout, region=np.s_[0:1, 0:1])

    expect_same_error(COMM, add, plait.ArgumentError, "shape")
    COMM.Barrier()
    assert [array.name for array in plait.arrays_in(path)] == ["first"]
    COMM.Barrier()


def test_a_shape_that_one_rank_rejects_is_set_on_no_rank(shared):
    """Only the rank that writes the header detects that the text of the new shape does not fit into it."""
    url = shared / "short.npy"
    if COMM.rank == 0:
        text = b"{'descr':'|u1','fortran_order':False,'shape':(9,)}\n"
        url.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(9))
    COMM.Barrier()
    with plait.open(url, "a", comm=COMM) as file:
        layout = plait.Layout((10**6,), ["block"], grid=(COMM.size,))
        part = np.zeros(layout.local_shape(COMM.rank), "u1")
        expect_same_error(COMM, lambda: file.append(part, layout), plait.ArgumentError, "and would need")
        assert file.shape == (9,)
        expect_same_error(COMM, lambda: file.resize((10**6,)), plait.ArgumentError, "and would need")
        assert file.shape == (9,)
    assert np.load(url).shape == (9,)
    COMM.Barrier()


def test_ranks_append_to_npy(shared):
    url = shared / "a.npy"
    if COMM.rank == 0:
        np.save(url, make_block((5, 7), 0))
    COMM.Barrier()
    block = make_block((6, 7), 1)
    layout = plait.Layout(block.shape, "(cyclic, *)", grid=(COMM.size,))
    with plait.open(url, "a", comm=COMM) as file:
        file.append(block[np.ix_(*layout.indices(COMM.rank))], layout)
    np.testing.assert_array_equal(np.load(url), np.concatenate((make_block((5, 7), 0), block)))
    with plait.open(url, "a", comm=COMM) as file:
        text_part = "grows along dimension 0 only"
        wide = plait.Layout((11, 1), "(block, *)", grid=(COMM.size,))
        part = np.zeros(wide.local_shape(COMM.rank), "i4")
        expect_same_error(COMM, lambda: file.append(part, wide, 1), plait.ArgumentError, text_part)
    COMM.Barrier()
