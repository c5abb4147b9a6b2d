"""Arrays of several files, joined to one on several ranks, compared with numpy.concatenate."""

import numpy as np
import pytest
from same import expect_same_error

import plait

SIZES = (5, 1, 0, 7, 3)


def make_joined_array(comm, shared, axis, **options):
    """Returns the joined array of parts in files of several formats and orders, and the expected array in memory."""
    shapes = [(*(24, 10)[:axis], size, *(24, 10)[axis:]) for size in SIZES]
    arrays = [np.random.default_rng(seed).integers(0, 999, shape).astype("i4") for seed, shape in enumerate(shapes)]
    if comm.rank == 0:
        for number, array in enumerate(arrays):
            if number == 3:
                with plait.open(
                    shared / "part-3.zarr", "w", shape=array.shape, dtype="i4", chunks=(2, 3, 4), codec="zstd:1"
                ) as file:
                    file.write(array)
            else:
                np.save(shared / f"part-{number}.npy", np.asfortranarray(array) if number == 1 else array)
    comm.barrier()
    return plait.concat(str(shared / "part-*"), axis, comm=comm, **options), np.concatenate(arrays, axis)


def make_grid(comm):
    """Returns a grid of all ranks in two dimensions."""
    return next((number, comm.size // number) for number in (2, 3, 1) if comm.size % number == 0)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dist", ["(block, cyclic(2), *)", "(cyclic, *, block)", "(*, balanced, cyclic(3))"])
def test_each_rank_gets_its_part(comm, shared, axis, dist):
    with make_joined_array(comm, shared, axis, memory="1M")[0] as file:
        global_array = make_joined_array(comm, shared, axis)[1]
        layout = plait.Layout(file.shape, dist, grid=make_grid(comm))
        indices = np.ix_(*layout.indices(comm.rank))
        np.testing.assert_array_equal(file.read(layout), global_array[indices])
        np.testing.assert_array_equal(file.iread(layout).wait(), global_array[indices])
        assert "part 3" in file.explain(layout)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_regions(comm, shared, axis):
    file, global_array = make_joined_array(comm, shared, axis)
    with file:
        for region in (np.s_[2:20:3, 1:, :9], np.s_[..., 1::2], np.s_[:, 4], np.s_[1:1], np.s_[:, :, 7]):
            expected = global_array[region]
            layout = plait.Layout(expected.shape, ["cyclic", *["*"] * (expected.ndim - 1)], grid=(comm.size,))
            np.testing.assert_array_equal(
                file.read(layout, region=region), expected[np.ix_(*layout.indices(comm.rank))]
            )


def test_ranks_that_are_not_in_the_layout(comm, shared):
    file, global_array = make_joined_array(comm, shared, 0)
    with file:
        layout = plait.Layout(global_array.shape, "(*, *, *)", grid=())
        local = file.read(layout)
        assert (local is None) == (comm.rank > 0)
        if comm.rank == 0:
            np.testing.assert_array_equal(local, global_array)


def test_mistakes_are_errors_on_all_ranks(comm, shared):
    file, global_array = make_joined_array(comm, shared, 0)
    layout = plait.Layout(global_array.shape, "(block, *, *)", grid=(comm.size,))
    with file:
        out = np.empty(layout.padded_shape(comm.rank), "f8" if comm.rank == comm.size - 1 else "i4")
        expect_same_error(comm, lambda: file.read(layout, out), plait.ArgumentError, "dtype float64")
        np.testing.assert_array_equal(file.read(layout), global_array[np.ix_(*layout.indices(comm.rank))])
        if comm.size > 1:
            with pytest.raises(plait.ArgumentError, match="for one process"):
                file[0]
    expect_same_error(comm, lambda: plait.concat("none-*.npy", comm=comm), plait.ArgumentError, "no file matches")
    axis = 9 if comm.rank == 0 else 0
    expect_same_error(
        comm, lambda: plait.concat(str(shared / "part-*"), axis, comm=comm), plait.ArgumentError, "axis=9"
    )


def test_copies_of_the_whole(comm, shared):
    file, global_array = make_joined_array(comm, shared, 1)
    file.close()
    for target in ("all.zarr", "all.npy"):
        options = {"chunks": (5, 4, 3), "codec": "zstd:1"} if target.endswith(".zarr") else {}
        plait.copy(str(shared / "part-*"), shared / target, comm=comm, concat=1, memory=1 << 16, **options)
        with plait.open(shared / target, comm=comm) as copy:
            layout = plait.Layout(global_array.shape, "(cyclic, *, *)", grid=(comm.size,))
            np.testing.assert_array_equal(copy.read(layout), global_array[np.ix_(*layout.indices(comm.rank))])
