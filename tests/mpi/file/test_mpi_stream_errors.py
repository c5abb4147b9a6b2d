"""Streams of all ranks after a mistake of one rank or a failure of a store."""

import os
import resource

import numpy as np
import pytest
from limits import limit_file_size
from same import expect_same_error

import plait

COUNT = 5000


@pytest.fixture
def path(comm, shared):
    name = shared / "a.npy"
    if comm.rank == 0:
        np.save(name, np.arange(COUNT))
    return name


@pytest.mark.parametrize("mode", [2, 3, 4])
def test_errors_of_one_rank_reach_all(node_comm, path, mode):
    is_last_rank = node_comm.rank == node_comm.size - 1
    suffix = f" (on rank {node_comm.size - 1})" if node_comm.size > 1 else ""

    def expect_error(call, text_part):
        text = expect_same_error(node_comm, call, plait.ArgumentError, text_part)
        assert text.endswith(suffix)

    with plait.open(path, "r+", comm=node_comm) as file:
        stream = file.stream(mode)
        expect_error(lambda: stream.read(-1 if is_last_rank else 1), "-1 elements cannot be read")
        expect_error(lambda: stream.read("x" if is_last_rank else 1), "count='x' is not a whole number")
        expect_error(lambda: stream.iread(1, np.zeros(1, "i4") if is_last_rank else None).wait(), "out has dtype int32")
        expect_error(lambda: stream.write(np.zeros(1, "i4" if is_last_rank else "i8")), "array has dtype int32")
        expect_error(lambda: stream.seek(COUNT + 1 if is_last_rank else 0), "is not in the array")
        if is_last_rank:
            stream.close()
        expect_error(lambda: stream.read(1), "is closed; open another one")
        expect_error(lambda: file.stream(9 if is_last_rank else mode), "streams have the modes 0 to 4")
        if node_comm.size > 1:
            expect_same_error(
                node_comm,
                lambda: file.stream(int(is_last_rank)),
                plait.ArgumentError,
                "rank 0 calls open a stream in mode 0",
            )
        assert file.stream(mode).read(1).size == 1


@pytest.mark.parametrize("mode", range(5))
def test_a_new_file_with_a_lost_part_does_not_appear(node_comm, shared, mode):
    path = shared / "new.bin"
    is_last_rank = node_comm.rank == node_comm.size - 1
    failing = node_comm.rank == 0 if mode == 4 else is_last_rank
    file = plait.open(path, "w", comm=node_comm, shape=(COUNT,), dtype="i8")
    stream = file.stream(mode)
    ones = np.ones(COUNT // node_comm.size // 2, dtype=int)
    if mode < 2:
        if mode == 0:
            stream.seek(COUNT - len(ones))
        with limit_file_size(64 if failing else resource.RLIM_INFINITY):
            if failing:
                with pytest.raises(plait.StoreError, match="cannot write"):
                    stream.write(ones)
            else:
                stream.write(ones)
        # The other ranks get the error only now.
        expect_same_error(node_comm, file.close, plait.StoreError, "cannot write")
    else:
        with limit_file_size(64 if failing else resource.RLIM_INFINITY):
            expect_same_error(node_comm, lambda: stream.write(ones), plait.StoreError, "cannot write")
        expect_same_error(
            node_comm, lambda: stream.write(ones), plait.ArgumentError, "an earlier collective call failed"
        )
    file.close()
    assert stream.closed
    node_comm.Barrier()
    assert not path.exists()


@pytest.mark.parametrize("mode", [2, 3, 4])
def test_a_file_that_is_cut_while_it_is_open(node_comm, path, mode):
    with plait.open(path, comm=node_comm) as file:
        stream = file.stream(mode)
        if node_comm.rank == 0:
            os.truncate(path, 2000)
        node_comm.Barrier()
        expect_same_error(node_comm, lambda: stream.read(COUNT // node_comm.size), plait.StoreError, "truncated")
        assert stream.tell() == 0
        assert stream.read(10).size == 10


@pytest.mark.parametrize("mode", range(5))
def test_closing_the_file_ends_its_streams(node_comm, path, mode):
    file = plait.open(path, comm=node_comm)
    stream = file.stream(mode)
    requests = [stream.iread(5) for _ in range(node_comm.rank + 1 if mode < 2 else 4)]
    file.close()
    assert all(request.test() for request in requests)
    assert all(request.wait().size == 5 for request in requests)
    expect_same_error(node_comm, lambda: stream.read(1), plait.ArgumentError, "is closed; open it again")
    assert stream.closed


@pytest.mark.parametrize("mode", range(5))
def test_a_rank_abandons_a_new_file(node_comm, shared, mode):
    path = shared / "new.bin"
    file = plait.open(path, "w", comm=node_comm, shape=(COUNT,), dtype="i8")
    stream = file.stream(mode)

    def work():
        with file:
            if node_comm.rank == node_comm.size - 1:
                raise plait.StoreError("enough")
            stream.write(np.ones(1, dtype=int))
            stream.write(np.ones(1, dtype=int))

    with pytest.raises(plait.Error, match="enough" if node_comm.rank == node_comm.size - 1 else "was abandoned"):
        work()
    with pytest.raises(plait.Error):
        stream.write(np.ones(1, dtype=int))
    node_comm.Barrier()
    assert not path.exists()


@pytest.mark.several_ranks
@pytest.mark.parametrize("started", [False, True])
def test_a_mistake_in_another_call_does_not_swallow_a_lost_part(comm, shared, started):
    path = shared / "new.bin"
    is_last_rank = comm.rank == comm.size - 1
    layout = plait.Layout((COUNT,), "(block)", grid=(comm.size,))
    file = plait.open(path, "w", comm=comm, shape=(COUNT,), dtype="i8")
    stream = file.stream(0)
    stream.seek(COUNT - 100)
    with limit_file_size(64 if is_last_rank else resource.RLIM_INFINITY):
        if is_last_rank and started:
            stream.iwrite(np.ones(100, dtype=int))
            stream.close()  # waits for the request
        elif is_last_rank:
            with pytest.raises(plait.StoreError, match="cannot write"):
                stream.write(np.ones(100, dtype=int))
    for _ in range(2):
        call = file.close if is_last_rank else lambda: file.write("x", layout)
        expect_same_error(comm, call, plait.ArgumentError)
        assert not file.closed
    expect_same_error(comm, file.close, plait.StoreError, "cannot write")
    assert file.closed
    file.close()
    comm.Barrier()
    assert not path.exists()


@pytest.mark.several_ranks
def test_a_mistake_in_another_call_does_not_swallow_a_failed_write(comm, path):
    is_last_rank = comm.rank == comm.size - 1
    layout = plait.Layout((COUNT,), "(block)", grid=(comm.size,))
    file = plait.open(path, "r+", comm=comm)
    stream = file.stream(0)
    with limit_file_size(64 if is_last_rank else resource.RLIM_INFINITY):
        request = stream.iwrite(np.ones(100, dtype=int))
        stream.close()
    call = file.close if is_last_rank else lambda: file.write("x", layout)
    expect_same_error(comm, call, plait.ArgumentError)
    assert not file.closed
    expect_same_error(comm, file.close, plait.StoreError, "cannot write")
    file.close()
    assert file.closed
    assert request.test()


@pytest.mark.several_ranks
@pytest.mark.parametrize("mode", [2, 3, 4])
def test_a_store_that_fails_in_another_call_leaves_a_new_file_alone(comm, shared, path, mode):
    new = shared / "new.bin"
    file = plait.open(new, "w", comm=comm, shape=(COUNT,), dtype="i8")
    stream = file.stream(mode)
    layout = plait.Layout((COUNT,), "(block)", grid=(comm.size,))
    ones = np.ones(COUNT // comm.size, dtype=int)
    for call in (file.close, lambda: stream.write(ones)):
        with plait.open(path, comm=comm, strategy="direct") as other:
            comm.Barrier()
            if comm.rank == 0:
                os.truncate(path, 0)
            comm.Barrier()
            is_last_rank = comm.rank == comm.size - 1
            expect_same_error(
                comm, (lambda: other.read(layout)) if is_last_rank else call, plait.StoreError, "truncated"
            )
            if comm.rank == 0:
                np.save(path, np.arange(COUNT))
        assert not file.closed
    stream.write(ones)
    file.close()
    comm.Barrier()
    assert new.exists()
