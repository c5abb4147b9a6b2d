"""Shared Files: every rank reads what any rank wrote at any offset, wherever the bytes are stored."""

import itertools

import numpy as np
import pytest
from nodes import SEVERAL_HOSTS
from same import expect_same_error
from shared_striping import STRIPED, UNITS, content, select_folder

import plait
from plait import shared as shared_files
from plait.shared import wait_all


@pytest.mark.parametrize(("striped", "unit"), UNITS)
def test_every_rank_reads_what_others_wrote(node_comm, shared, disk, striped, unit):
    node_comm.Barrier()
    sizes = (1, 99, 5000, 300_001, 2_000_003)
    path = select_folder(striped, disk, shared) / "data"
    with shared_files.open(path, "w", comm=node_comm, striped=striped, unit=unit) as file:
        assert file.striped == striped
        assert file.components == (node_comm.size if striped else 1)
        assert file.unit == (unit if striped else 0)
        base = 0
        for size in sizes:
            file.write(base + size * node_comm.rank, content([size, node_comm.rank], size))
            node_comm.Barrier()
            global_array = np.concatenate([content([size, rank], size) for rank in range(node_comm.size)])
            np.testing.assert_array_equal(file.read(base, size * node_comm.size), global_array)
            base += size * node_comm.size
            assert file.size() == base
            node_comm.Barrier()


@pytest.mark.parametrize(("striped", "unit"), UNITS[:3])
def test_random_accesses_agree_with_a_model(node_comm, shared, disk, striped, unit):
    """Between barriers the ranks write disjoint ranges and read ranges that no rank writes."""
    node_comm.Barrier()
    size = 200_000
    random = np.random.default_rng(5)
    model = np.zeros(size, "u1")
    end = 0
    with shared_files.open(
        select_folder(striped, disk, shared) / "data", "w", comm=node_comm, striped=striped, unit=unit
    ) as file:
        for phase in range(12):
            # All ranks draw the same cuts. Rank r accesses the pieces i with i % node_comm.size == r, and writes some.
            cuts = np.unique(random.integers(0, size + 1, 40))
            writes = random.integers(0, 3, len(cuts)) > 0
            before, before_end = model.copy(), end
            requests = []
            for i, (begin, stop) in enumerate(itertools.pairwise(cuts)):
                is_mine = i % node_comm.size == node_comm.rank
                if writes[i]:
                    new_bytes = content([phase, i], stop - begin)
                    model[begin:stop] = new_bytes
                    end = max(end, int(stop))
                    if is_mine:
                        requests.append((file.iwrite(begin, new_bytes), None))
                elif is_mine and stop <= before_end:
                    requests.append((file.iread(begin, int(stop - begin)), before[begin:stop]))
            for request, expected in requests:
                actual = request.wait()
                if expected is not None:
                    np.testing.assert_array_equal(actual, expected)
            node_comm.Barrier()
            assert file.size() == end
            begin, stop = sorted(np.random.default_rng([phase, node_comm.rank]).integers(0, end + 1, 2))
            np.testing.assert_array_equal(file.read(begin, int(stop - begin)), model[begin:stop])
            with pytest.raises(plait.StoreError, match=f"it ends at {end}"):
                file.read(int(begin), int(end - begin) + 1)
            node_comm.Barrier()
            if phase % 4 == 3:
                end = int(random.integers(0, size))
                model[end:] = 0
                file.resize(end)
                assert file.size() == end
                node_comm.Barrier()  # before the other ranks write again
        np.testing.assert_array_equal(file.read(0, end), model[:end])


@pytest.mark.parametrize("striped", STRIPED)
def test_overlapping_writes_leave_bytes_of_the_writers(node_comm, shared, disk, striped):
    node_comm.Barrier()
    size = 150_000
    with shared_files.open(
        select_folder(striped, disk, shared) / "data", "w", comm=node_comm, striped=striped, unit=1000
    ) as file:
        file.resize(size)
        own_bytes = np.full(size, node_comm.rank + 1, "u1")
        random = np.random.default_rng(node_comm.rank)
        cuts = [sorted(int(number) for number in random.integers(0, size, 2)) for _ in range(20)]
        everyone = node_comm.allgather(cuts)
        wait_all([file.iwrite(begin, own_bytes[begin:end]) for begin, end in cuts])
        node_comm.Barrier()
        actual = file.read(0, size)
        allowed = np.zeros((node_comm.size + 1, size), bool)
        for rank, ranges in enumerate(everyone):
            for begin, end in ranges:
                allowed[rank + 1, begin:end] = True
        allowed[0] = ~allowed[1:].any(axis=0)
        assert allowed[actual, np.arange(size)].all()


@pytest.mark.parametrize("striped", STRIPED)
def test_bytes_that_no_rank_wrote_are_zero(node_comm, shared, disk, striped):
    node_comm.Barrier()
    with shared_files.open(
        select_folder(striped, disk, shared) / "data", "w", comm=node_comm, striped=striped, unit=50
    ) as file:
        if node_comm.rank == node_comm.size - 1:
            file.write(3_000, b"far out")
        node_comm.Barrier()
        assert file.read(0, 3_007).tobytes() == bytes(3_000) + b"far out"
        into = np.full(100, 7, "u1")  # not zero before, so that the read must set it
        assert not file.iread(2_890, into).wait().any()
        assert file.size() == 3_007
        with pytest.raises(plait.StoreError, match=r"cannot read 8 bytes at offset 3000 .*it ends at 3007"):
            file.read(3_000, 8)
        with pytest.raises(plait.StoreError, match="it ends at 3007"):
            file.iread(1_000_000, 1).wait()
        assert file.read(3_007, 0).size == 0


@pytest.mark.parametrize("striped", STRIPED)
def test_offsets_beyond_two_gigabytes(node_comm, shared, disk, striped):
    node_comm.Barrier()
    with shared_files.open(select_folder(striped, disk, shared) / "data", "w", comm=node_comm, striped=striped) as file:
        for offset in (2**31 - 3, 2**32 - 3, 2**40):
            if node_comm.rank == 0:
                file.write(offset, b"over the edge")
            node_comm.Barrier()
            assert file.read(offset - 1, 14).tobytes() == b"\0over the edge"
            assert file.size() == offset + 13
            node_comm.Barrier()
        with pytest.raises(plait.ArgumentError, match="passes 2\\^63 - 1"):
            file.write(2**63 - 1, b"xx")


def test_ranks_detect_whether_they_share_a_folder(node_comm, shared, disk):
    node_comm.Barrier()
    for folder in (shared, disk):
        with shared_files.open(folder / "data", "w", comm=node_comm) as file:
            assert file.striped == (folder is disk and SEVERAL_HOSTS)
            file.write(node_comm.rank * 10, b"0123456789")
            node_comm.Barrier()
            assert file.read(0, 10 * node_comm.size).tobytes() == b"0123456789" * node_comm.size
            node_comm.Barrier()
        node_comm.Barrier()
        assert not any(folder.iterdir())
    if SEVERAL_HOSTS:
        expect_same_error(node_comm, lambda: shared_files.open(disk / "data", "w", comm=node_comm, striped=False),
                         plait.StoreError, "does not see")  # fmt: skip
    missing = shared / "none" / "data"
    for striped in (None, False, True):
        options = {"comm": node_comm, "striped": striped}
        expect_same_error(node_comm, lambda options=options: shared_files.open(missing, "w", **options),
                         plait.StoreError, str(missing))  # fmt: skip


@pytest.mark.parametrize("striped", STRIPED)
def test_writes_beyond_the_limit_fail(comm, shared, disk, striped):
    comm.Barrier()
    path = select_folder(striped, disk, shared) / "data"
    with shared_files.open(path, "w", comm=comm, striped=striped, limit=1000, unit=100) as file:
        file.write(999, b"x")
        with pytest.raises(plait.ArgumentError, match="limited to 1000 bytes, but should get 1001"):
            file.write(999, b"xy")
        with pytest.raises(plait.ArgumentError, match="limited to 1000"):
            file.iwrite(5000, b"x")
        expect_same_error(comm, lambda: file.resize(1001), plait.ArgumentError, "limited to 1000")
        expect_same_error(comm, lambda: file.resize(-1), plait.ArgumentError, "cannot have -1 bytes")
        file.read_only()
        with pytest.raises(plait.ArgumentError, match="open only to read"):
            file.write(0, b"x")
        comm.Barrier()
        assert file.size() == 1000


def test_mistakes_are_errors_on_all_ranks(comm, shared, disk):
    comm.Barrier()
    path = disk / "data"

    def open_shared_file(**arguments):
        return lambda: shared_files.open(path, "w", comm=comm, **arguments)

    last = comm.rank == comm.size - 1
    for call, text in (
        (open_shared_file(unit=-1), "unit=-1"),
        (open_shared_file(striped="here" if last else False), "striped='here' is not a truth value"),
        (open_shared_file(unit=1.5 if last else 1), "unit=1.5 is not a whole number"),
        (open_shared_file(atomic=True), "atomic was asked for"),
        (lambda: shared_files.open("", "w", comm=comm), "names no file"),
        (lambda: shared_files.open(path, "x", comm=comm), 'mode "x" is not known'),
    ):
        expect_same_error(comm, call, plait.ArgumentError, text)
    if comm.size > 1:
        expect_same_error(
            comm, open_shared_file(limit=7 if last else 8), plait.ArgumentError, "the ranks of a collective call differ"
        )
    with shared_files.open(path, "w", comm=comm, striped=True) as file:
        for wrong, text in (
            (lambda: file.read(-1, 1), "offset -1"),
            (lambda: file.read(0, -1), "-1 bytes"),
            (lambda: file.write(0.5, b"x"), "not a whole number"),
            (lambda: file.owner(comm.size), "component"),
            (lambda: file.owner(2**40), "component=1099511627776 is out of range"),
        ):
            with pytest.raises(plait.ArgumentError, match=text):
                wrong()
        assert [file.owner(i) for i in range(comm.size)] == list(range(comm.size))
    with pytest.raises(plait.ArgumentError, match="has been closed"):
        file.read(0, 1)
    with pytest.raises(plait.ArgumentError, match="has been closed"):
        file.close()


@pytest.mark.parametrize("striped", STRIPED)
@pytest.mark.parametrize("waiting_in", ["close", "resize"])
def test_an_exception_in_the_with_block_reaches_all_ranks(comm, shared, disk, striped, waiting_in):
    comm.Barrier()
    last = comm.size - 1

    def use():
        with shared_files.open(select_folder(striped, disk, shared) / "data", "w", comm=comm, striped=striped) as file:
            if comm.rank == last:
                raise ValueError("mine")
            if waiting_in == "resize":
                file.resize(10)

    if comm.rank == last:
        with pytest.raises(ValueError, match="mine"):
            use()
    else:
        with pytest.raises(plait.StoreError, match=f"rank {last} has abandoned the shared file"):
            use()
    comm.Barrier()


@pytest.mark.parametrize("striped", STRIPED)
def test_too_little_disk_space_is_a_warning(comm, shared, disk, striped, capfd):
    comm.Barrier()
    path = select_folder(striped, disk, shared) / "data"
    with shared_files.open(path, "w", comm=comm, striped=striped, expected=2**60):
        pass
    with shared_files.open(path, "w", comm=comm, striped=striped, expected=1):
        pass
    printed = capfd.readouterr().err
    assert printed.count("is expected to get 1152921504606846976 bytes") == (comm.rank == 0)


def test_striped_and_other_files_in_one_program(comm, shared, disk):
    comm.Barrier()
    single = shared_files.open(shared / "data", "w", comm=comm, striped=False)
    striped = shared_files.open(disk / "data", "w", comm=comm, striped=True, request=30_000)
    assert striped.unit == 32_768
    wait_all([file.iwrite(comm.rank * 50_000, content(comm.rank, 50_000)) for file in (single, striped)])
    comm.Barrier()
    for file in (single, striped):
        for rank in range(comm.size):
            np.testing.assert_array_equal(file.read(rank * 50_000, 50_000), content(rank, 50_000))
    comm.Barrier()
    striped.close()
    single.close()
