"""Transfers between nodes: ranks of one machine that Plait treats as several nodes, or ranks on several hosts."""

import os
import socket

import numpy as np
import pytest
from brute_force import LayoutModel, make_distinct_array, random_model, random_region, random_shape
from nodes import SEVERAL_HOSTS, SEVERAL_NODES
from same import expect_same_error

import plait

pytestmark = pytest.mark.parametrize("node_comm", SEVERAL_NODES, indirect=True)


def test_random_accesses(node_comm, shared):
    random = np.random.default_rng(11)
    for i in range(15):
        shape = random_shape(random)
        global_array = make_distinct_array(shape, str(random.choice(["f8", "u1", "c16", "V1000"])))
        region = random_region(random, shape)
        new_values = global_array[region].copy()
        new_values[...] = new_values.ravel()[::-1].reshape(new_values.shape)
        expected = global_array.copy()
        expected[region] = new_values
        reader, writer = (
            random_model(random, shape, node_comm.size),
            random_model(random, new_values.shape, node_comm.size),
        )
        path = shared / f"{i}.bin"
        if node_comm.rank == 0:
            path.write_bytes(global_array.tobytes())
        options = {
            "shape": shape,
            "dtype": global_array.dtype,
            "strategy": str(random.choice(["direct", "two-phase", "two-phase"])),
            "memory": int(random.choice([0, 0, 10, 40])) * global_array.itemsize,
            "readers": int(random.integers(0, node_comm.size + 1)),
        }
        with plait.open(path, "r+", comm=node_comm, **options) as file:
            np.testing.assert_array_equal(file.read(reader.layout()), reader.local(global_array, node_comm.rank))
            file.write(writer.local(new_values, node_comm.rank), writer.layout(), region=region)
            np.testing.assert_array_equal(file.read(reader.layout()), reader.local(expected, node_comm.rank))
        if node_comm.rank == 0:
            assert path.read_bytes() == expected.tobytes()


def test_arrays_of_many_windows(node_comm, shared):
    global_array = np.random.default_rng(3).random((200, 251))
    path = shared / "a.npy"
    models = [
        LayoutModel((200, 251), ("*", "cyclic"), (node_comm.size,)),
        LayoutModel((200, 251), ("block", "*"), (node_comm.size,), order="F"),
    ]
    for model, memory in zip(models, (0, 100_000), strict=True):
        options = {"comm": node_comm, "strategy": "two-phase", "memory": memory, "readers": node_comm.size}
        with plait.open(path, "w", shape=(200, 251), dtype="f8", **options) as file:
            file.write(model.local(global_array, node_comm.rank), model.layout())
            np.testing.assert_array_equal(file.read(model.layout()), model.local(global_array, node_comm.rank))
        if node_comm.rank == 0:
            np.testing.assert_array_equal(np.load(path), global_array)


def node_numbers(node_comm, request):
    """Returns the host name or number of each rank's node."""
    size = request.node.callspec.params["node_comm"]
    return node_comm.allgather(socket.gethostname() if SEVERAL_HOSTS else node_comm.rank // size)


@pytest.mark.parametrize("order", ["C", "F"])
def test_fewer_readers_are_spread_over_the_nodes(node_comm, request, shared, order):
    """With as many readers as nodes, exactly one rank of each node accesses the file."""
    nodes = node_numbers(node_comm, request)
    count = len(set(nodes))
    if count < 2:
        pytest.skip("all ranks are on one node")
    global_array = np.random.default_rng(5).random((300, 251))
    model = LayoutModel((300, 251), ("cyclic", "*"), (node_comm.size,), order=order)
    options = {"comm": node_comm, "strategy": "two-phase", "readers": count}
    with plait.open(shared / "a.npy", "w", shape=(300, 251), dtype="f8", **options) as file:
        file.write(model.local(global_array, node_comm.rank), model.layout())
        writers = node_comm.allgather(file.last_times()["io"] > 0)
    with plait.open(shared / "a.npy", **options) as file:
        np.testing.assert_array_equal(file.read(model.layout()), model.local(global_array, node_comm.rank))
        readers = node_comm.allgather(file.last_times()["io"] > 0)
        assert f"{count} of {node_comm.size} on {count} nodes" in file.explain(model.layout())
    for accessing_ranks in (writers, readers):
        assert sorted(node for node, is_busy in zip(nodes, accessing_ranks, strict=True) if is_busy) == sorted(
            set(nodes)
        )


@pytest.mark.parametrize("empty", [0, 1])
def test_each_node_reads_the_elements_of_its_own_ranks(node_comm, request, shared, empty):
    """With few nodes, each node reads the elements of its own ranks; all ranks agree on that, even if some are idle."""
    nodes = node_numbers(node_comm, request)
    owners = max(node_comm.size - empty, 1)
    global_array = np.random.default_rng(6).random((701, 503))
    layout = plait.Layout(global_array.shape, "(*, cyclic)", grid=(owners,))
    other = plait.Layout(global_array.shape, "(cyclic(3), cyclic(2))", grid=(1, owners))
    if node_comm.rank == 0:
        np.save(shared / "a.npy", global_array)
    node_comm.Barrier()
    with plait.open(shared / "a.npy", comm=node_comm) as file:
        explained = file.explain(layout)
        # With other sizes the cost model may choose otherwise.
        if node_comm.size == 4 and len(set(nodes)) == 2 and not empty:
            assert "of 4 in each of 2 nodes" in explained
        for number in range(12):
            for current in (layout, other):
                actual = file.read(current)
                if node_comm.rank < owners:
                    expected = global_array[np.ix_(*current.indices(node_comm.rank))]
                    np.testing.assert_array_equal(actual, expected, err_msg=f"{current} {number}")
        lines = node_comm.allgather(file.explain(layout))
        assert all(line == lines[0] for line in lines)


def test_random_redistributions(node_comm):
    random = np.random.default_rng(12)
    for _ in range(30):
        shape = random_shape(random)
        global_array = make_distinct_array(shape, str(random.choice(["f8", "u1", "c16"])))
        source, target = (random_model(random, shape, node_comm.size) for _ in range(2))
        actual = plait.redistribute(
            source.local(global_array, node_comm.rank), source.layout(), target.layout(), node_comm
        )
        np.testing.assert_array_equal(actual, target.local(global_array, node_comm.rank))


def test_large_messages(node_comm):
    shape = (1500, 701)
    global_array = np.arange(1500 * 701, dtype="f8").reshape(shape)
    source, target = (
        LayoutModel(shape, ("block", "*"), (node_comm.size,)),
        LayoutModel(shape, ("*", "block"), (node_comm.size,), order="F"),
    )
    actual = plait.redistribute(source.local(global_array, node_comm.rank), source.layout(), target.layout(), node_comm)
    np.testing.assert_array_equal(actual, target.local(global_array, node_comm.rank))


def test_requests(node_comm, shared):
    layout = plait.Layout((16, 12), "(*, cyclic)", grid=(node_comm.size,))
    with plait.open(shared / "a.npy", "w", comm=node_comm, shape=(16, 12), dtype="f8", strategy="two-phase") as file:
        requests = []
        for number in range(4):
            requests.append(file.iwrite(np.full(layout.local_shape(node_comm.rank), float(number)), layout))
            requests.append(file.iread(layout))
        for number in range(4):
            assert (requests[2 * number + 1].wait() == number).all()
            requests[2 * number].wait()


def test_errors_are_the_same_on_all_nodes(node_comm, shared):
    expect_same_error(node_comm, lambda: plait.open(shared / "no.npy", comm=node_comm), plait.StoreError, "(on rank 0)")
    path = shared / "a.npy"
    layout = plait.Layout((64, 16), "(*, cyclic)", grid=(node_comm.size,))
    with plait.open(path, "w", comm=node_comm, shape=(64, 16), dtype="f8", strategy="two-phase") as file:
        local = np.ones(layout.local_shape(node_comm.rank))
        is_last_rank = node_comm.rank == node_comm.size - 1
        expect_same_error(
            node_comm,
            lambda: file.write(local[1:] if is_last_rank else local, layout),
            plait.ArgumentError,
            "needs one of shape",
        )
        other = plait.Layout((64, 16), "(*, block)", grid=(node_comm.size,))
        expect_same_error(
            node_comm,
            lambda: file.read(other if is_last_rank else layout),
            plait.ArgumentError,
            "the ranks of a collective call differ",
        )
        file.write(local, layout)
    with plait.open(path, comm=node_comm, strategy="two-phase") as file:
        if node_comm.rank == 0:
            os.truncate(path, 4000)
        node_comm.Barrier()
        expect_same_error(node_comm, lambda: file.read(layout), plait.StoreError, "truncated")
