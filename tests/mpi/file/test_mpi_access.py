"""Collective reads and writes in every layout, against NumPy's indexing."""

import numpy as np
import pytest
from brute_force import LayoutModel, distributions, make_distinct_array, random_model
from rewriting import random_options, random_rewrite

import plait

SHAPE = (6, 10)


def matrix_models(ranks, order):
    """Returns every pair of distributions of a matrix, on every grid of `ranks` ranks."""
    grids = [(rows, ranks // rows) for rows in range(1, ranks + 1) if ranks % rows == 0]
    result = [
        LayoutModel(SHAPE, (first, second), grid, order=order)
        for grid in grids
        for first in distributions(SHAPE[0], grid[0])
        for second in distributions(SHAPE[1], grid[1])
    ]
    result += [LayoutModel(SHAPE, (dist, "*"), (ranks,), order=order) for dist in distributions(SHAPE[0], ranks)]
    return result + [LayoutModel(SHAPE, ("*", dist), (ranks,), order=order) for dist in distributions(SHAPE[1], ranks)]


def check(actual, expected):
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
@pytest.mark.parametrize(("file_order", "order"), [("C", "C"), ("F", "C"), ("C", "F")])
def test_every_pair_of_distributions(comm, shared, strategy, file_order, order):
    path = shared / "a.bin"
    global_array = make_distinct_array(SHAPE)
    if comm.rank == 0:
        path.write_bytes(bytes(global_array.nbytes))
    models = matrix_models(comm.size, order)
    with plait.open(
        path, "r+", comm=comm, shape=SHAPE, dtype="f8", order=file_order, strategy=strategy, memory=104
    ) as file:
        for i, model in enumerate(models[:: 1 + len(models) // 120]):
            local = model.local(global_array + i, comm.rank)
            file.write(local, model.layout())
            actual = file.read(model.layout())
            check(actual, local)
            assert actual.flags.f_contiguous if order == "F" else actual.flags.c_contiguous
            if i % 10 == 0 and comm.rank == 0:
                raw = np.fromfile(path).reshape(SHAPE, order=file_order)
                np.testing.assert_array_equal(raw, global_array + i)


@pytest.mark.parametrize("seed", range(4))
def test_random_accesses(comm, shared, seed):
    random = np.random.default_rng(seed)
    for i in range(25):
        global_array, region, new_content, expected = random_rewrite(random, "f8", "u1", "c16", "i2", "S3", "V1000")
        reader, writer = (
            random_model(random, global_array.shape, comm.size),
            random_model(random, new_content.shape, comm.size),
        )
        order = str(random.choice(["C", "F"]))
        options = {
            "shape": global_array.shape,
            "dtype": global_array.dtype,
            "order": order,
            **random_options(random, comm.size, global_array.itemsize),
        }
        path = shared / f"{i}.bin"
        if comm.rank == 0:
            path.write_bytes(global_array.tobytes(order))
        with plait.open(path, "r+", comm=comm, **options) as file:
            check(file.read(reader.layout()), reader.local(global_array, comm.rank))
            check(file.read(writer.layout(), region=region), writer.local(global_array[region], comm.rank))
            file.write(writer.local(new_content, comm.rank), writer.layout(), region=region)
            check(file.read(reader.layout()), reader.local(expected, comm.rank))
        if comm.rank == 0:
            assert path.read_bytes() == expected.tobytes(order)


@pytest.mark.ranks(4)
def test_the_block_cyclic_example(comm, shared):
    global_array = make_distinct_array((6, 4))
    path = shared / "a.npy"
    if comm.rank == 0:
        np.save(path, global_array)
    layout = plait.Layout((6, 4), "(cyclic(2), block) onto (2, 2)")
    rows = [[0, 1, 4, 5], [2, 3]][comm.rank // 2]
    columns = [[0, 1], [2, 3]][comm.rank % 2]
    for strategy in ("direct", "two-phase", "automatic"):
        with plait.open(path, comm=comm, strategy=strategy) as file:
            check(file.read(layout), global_array[np.ix_(rows, columns)])


@pytest.mark.parametrize("strategy", ["direct", "two-phase", "automatic"])
def test_new_files(comm, shared, strategy):
    global_array = make_distinct_array((7, 9))
    model = LayoutModel((7, 9), ("*", "cyclic(2)"), (comm.size,), order="F")
    for order in "CF":
        path = shared / f"{order}.npy"
        with plait.open(path, "w", comm=comm, shape=(7, 9), dtype="f8", order=order, strategy=strategy) as file:
            file.write(model.local(global_array, comm.rank), model.layout())
            assert not path.exists()
        actual = np.load(path)
        np.testing.assert_array_equal(actual, global_array)
        assert actual.flags.f_contiguous if order == "F" else actual.flags.c_contiguous
        with plait.open(path, comm=comm) as file:
            check(file.read(model.layout()), model.local(global_array, comm.rank))
    if comm.rank == 0:
        assert sorted(entry.name for entry in shared.iterdir()) == ["C.npy", "F.npy"]


@pytest.mark.parametrize("memory", [0, 200_000, 20_000])
def test_arrays_of_many_windows(comm, shared, memory):
    global_array = np.random.default_rng(3).random((300, 251))
    path = shared / "a.npy"
    models = [
        LayoutModel((300, 251), ("*", "cyclic"), (comm.size,)),
        LayoutModel((300, 251), ("block", "*"), (comm.size,), order="F"),
        LayoutModel((300, 251), ("cyclic(7)", "*"), (comm.size,)),
    ]
    for readers in {0, 1, comm.size // 2, comm.size}:
        options = {"comm": comm, "strategy": "two-phase", "memory": memory, "readers": readers}
        with plait.open(path, "w", shape=(300, 251), dtype="f8", **options) as file:
            file.write(models[readers % 3].local(global_array, comm.rank), models[readers % 3].layout())
        if comm.rank == 0:
            np.testing.assert_array_equal(np.load(path), global_array)
        with plait.open(path, "r+", **options) as file:
            for model in models:
                check(file.read(model.layout()), model.local(global_array, comm.rank))
            inner = LayoutModel((100, 83), ("cyclic", "*"), (comm.size,))
            region = np.s_[50:250:2, 1:250:3]
            check(file.read(inner.layout(), region=region), inner.local(global_array[region], comm.rank))


def test_arrays_may_have_any_strides(comm, shared):
    global_array = make_distinct_array((8, 12))
    model = LayoutModel((8, 12), ("cyclic", "*"), (comm.size,))
    local = model.local(global_array, comm.rank)
    path = shared / "a.bin"
    if comm.rank == 0:
        path.write_bytes(bytes(global_array.nbytes))
    for strategy in ("direct", "two-phase"):
        with plait.open(path, "r+", comm=comm, shape=(8, 12), dtype="f8", strategy=strategy, memory=100) as file:
            wide = np.full((2 * local.shape[0], 36), -1.0)
            # The ranks' arrays have different strides and start at different elements.
            view = wide[::2, ::3] if comm.rank % 2 else wide[1::2, 35::-3]
            view[...] = local
            file.write(view, model.layout())
            view[...] = 0
            assert file.read(model.layout(), out=view) is view
            check(view, local)
            assert (wide == -1).sum() == wide.size - local.size


def test_more_ranks_than_elements(comm, shared):
    for shape in [(1, 1), (0, 3), (2, 1), (1, comm.size - 1)]:
        global_array = make_distinct_array(shape)
        for dist in ("block", "cyclic", "balanced"):
            model = LayoutModel(shape, (dist, "*"), (comm.size,))
            path = shared / f"{shape[0]}-{shape[1]}-{dist}.npy"
            with plait.open(path, "w", comm=comm, shape=shape, dtype="f8", strategy="two-phase") as file:
                file.write(model.local(global_array, comm.rank), model.layout())
                check(file.read(model.layout()), model.local(global_array, comm.rank))
            np.testing.assert_array_equal(np.load(path), global_array)


def test_requests_of_two_files_interleave(comm, shared):
    layouts = [
        plait.Layout((16, 12), "(block, *)", grid=(comm.size,)),
        plait.Layout((16, 12), "(*, cyclic)", grid=(comm.size,)),
    ]
    files = [
        plait.open(shared / f"{i}.npy", "w", comm=comm, shape=(16, 12), dtype="f8", strategy="two-phase", memory=256)
        for i in range(2)
    ]
    arrays = [np.empty(layout.local_shape(comm.rank)) for layout in layouts]
    requests = []
    for round_number in range(12):
        i = round_number % 2
        requests.append(files[i].iwrite(np.full_like(arrays[i], round_number), layouts[i]))
        requests.append(files[1 - i].iread(layouts[1 - i]))
        if round_number == 5:  # a blocking call between the requests
            assert (files[0].read(layouts[0]) == 4).all()
    # Odd ranks wait in the order of the requests, even ranks in the reverse order.
    for number in range(len(requests)) if comm.rank % 2 else reversed(range(len(requests))):
        round_number, kind = divmod(number, 2)
        result = requests[number].wait()
        assert requests[number].test()
        if kind == 1:
            assert (result == max(round_number - 1, 0)).all()
    for file in files:
        file.close()
    assert (np.load(shared / "0.npy") == 10).all()
    assert (np.load(shared / "1.npy") == 11).all()


def test_a_communicator_of_some_ranks(comm, shared):
    seed = comm.Split(comm.rank % 2, comm.rank)
    name = shared / f"{comm.rank % 2}.npy"
    comm.Barrier()  # rank 0 has made the folder
    layout = plait.Layout((8, 9), "(*, cyclic)", grid=(seed.size,))
    with plait.open(name, "w", comm=seed, shape=(8, 9), dtype="i4", strategy="two-phase") as file:
        file.write(np.full(layout.local_shape(seed.rank), seed.rank, "i4"), layout)
    np.testing.assert_array_equal(np.load(name)[3], np.arange(9) % seed.size)
    seed.Free()


def test_each_rank_opens_a_file_without_a_communicator(comm, shared):
    comm.Barrier()
    path = shared / f"{comm.rank}.npy"
    with plait.open(path, "w", shape=(3,), dtype="i4") as file:
        file.write(np.full(3, comm.rank, "i4"))
    assert np.load(path).tolist() == [comm.rank] * 3


def test_explain_is_not_collective(comm, shared):
    path = shared / "a.npy"
    if comm.rank == 0:
        np.save(path, make_distinct_array((64, 64)))
    layout = plait.Layout((64, 64), "(*, cyclic)", grid=(comm.size,))
    with plait.open(path, comm=comm) as file:
        if comm.rank == 0:
            assert str(layout) in file.explain(layout)
        times = file.last_times()
        file.read(layout)
        assert file.last_times()["total"] > times["total"]
