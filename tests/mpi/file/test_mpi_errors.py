"""A collective fails together: every rank gets the same error, and the communicator stays usable."""

import errno
import os
import shutil
import subprocess

import numpy as np
import pytest
from limits import limit_file_size
from mpi4py import MPI
from same import catch_error, expect_same_error

import plait

SHAPE = (12, 10)


@pytest.fixture
def path(comm, shared):
    name = shared / "a.bin"
    if comm.rank == 0:
        np.arange(120.0).tofile(name)
    return name


def open_file(path, comm, mode="r", **options):
    return plait.open(path, mode, comm=comm, **{"shape": SHAPE, "dtype": "f8", "strategy": "two-phase", **options})


def make_row_layout(comm):
    return plait.Layout(SHAPE, "(cyclic, *)", grid=(comm.size,))


def check_read(comm, path):
    """Expects that a simple collective read returns the right elements."""
    with open_file(path, comm) as file:
        expected = np.arange(120.0).reshape(SHAPE)[comm.rank :: comm.size]
        np.testing.assert_array_equal(file.read(make_row_layout(comm)), expected)


def test_a_missing_file(comm, shared, path):
    missing = shared / "missing.bin"
    text = expect_same_error(comm, lambda: open_file(missing, comm), plait.StoreError, f"cannot open {missing}")
    assert ("(on rank 0)" in text) == (comm.size > 1)
    expect_same_error(comm, lambda: open_file(shared / "no" / "a", comm, "w"), plait.StoreError, "does not exist")
    with pytest.raises(plait.StoreError) as caught:
        open_file(missing, comm)
    assert caught.value.errno == errno.ENOENT
    check_read(comm, path)


def test_a_file_that_is_too_short(comm, shared, path):
    if comm.rank == 0:
        (shared / "short.bin").write_bytes(bytes(959))
    expect_same_error(comm, lambda: open_file(shared / "short.bin", comm), plait.StoreError, "has 959 bytes")
    check_read(comm, path)


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
def test_a_file_that_is_cut_while_it_is_open(comm, shared, path, strategy):
    file = open_file(path, comm, strategy=strategy)
    if comm.rank == 0:
        os.truncate(path, 500)
    comm.Barrier()
    text = expect_same_error(comm, lambda: file.read(make_row_layout(comm)), plait.StoreError, "truncated")
    assert f"cannot read {path} at offset" in text
    first = plait.Layout((5, 10), "(cyclic, *)", grid=(comm.size,))
    assert file.read(first, region=np.s_[:5]).shape == first.local_shape(comm.rank)
    file.close()


def test_writing_to_a_file_that_is_open_for_reading(comm, path):
    with open_file(path, comm) as file:
        rows = make_row_layout(comm)
        local = np.zeros(rows.local_shape(comm.rank))
        expect_same_error(comm, lambda: file.write(local, rows), plait.ArgumentError, "open for reading")
        request = file.iwrite(local, rows)
        expect_same_error(comm, request.wait, plait.ArgumentError, "open for reading")
    check_read(comm, path)


def test_a_layout_for_other_ranks(comm, path):
    layout = plait.Layout(SHAPE, "(cyclic, *)", grid=(comm.size + 1,))
    with open_file(path, comm) as file:
        expect_same_error(comm, lambda: file.read(layout), plait.ArgumentError, f"has {comm.size + 1} ranks")
        if comm.size > 1:
            expect_same_error(comm, lambda: file.read(), plait.ArgumentError, "need a layout")
    check_read(comm, path)


@pytest.mark.several_ranks
@pytest.mark.parametrize("wrong_rank", [0, -1])
def test_one_rank_passes_a_wrong_array(comm, path, wrong_rank):
    rows = make_row_layout(comm)
    is_wrong_rank = comm.rank == wrong_rank % comm.size
    valid = np.zeros(rows.local_shape(comm.rank))
    with open_file(path, comm, "r+") as file:
        for array, text_part in [
            (np.zeros((1, 1)), "is an array of shape 1x1"),
            (valid.astype("f4"), "has dtype float32"),
            ("no array", f"of rank {wrong_rank % comm.size}"),
            (None, f"of rank {wrong_rank % comm.size}"),
            ([], "is an array of shape 0"),
        ]:
            text = expect_same_error(
                comm,
                lambda array=array: file.write(array if is_wrong_rank else valid, rows),
                plait.ArgumentError,
                text_part,
            )
            assert text.endswith(f"(on rank {wrong_rank % comm.size})")
        read_only = valid.copy()
        read_only.flags.writeable = False
        expect_same_error(
            comm, lambda: file.read(rows, out=read_only if is_wrong_rank else valid), plait.ArgumentError, "read-only"
        )
        expect_same_error(
            comm,
            lambda: file.iread(rows, out=np.zeros(3) if is_wrong_rank else valid).wait(),
            plait.ArgumentError,
            "shape",
        )
        expect_same_error(
            comm, lambda: file.read("rows" if is_wrong_rank else rows), plait.ArgumentError, 'found "rows", expected'
        )
        expect_same_error(
            comm,
            lambda: file.read(rows, region=np.s_[::-1] if is_wrong_rank else None),
            plait.ArgumentError,
            "step is -1",
        )
    check_read(comm, path)


@pytest.mark.several_ranks
def test_ranks_that_call_with_different_arguments(comm, path):
    rows = make_row_layout(comm)
    is_last_rank = comm.rank == comm.size - 1
    columns = plait.Layout(SHAPE, "(*, cyclic)", grid=(comm.size,))
    part = plait.Layout((6, 10), "(cyclic, *)", grid=(comm.size,))
    differ = "the ranks of a collective call differ: rank 0 calls "
    with open_file(path, comm, "r+") as file:
        text = expect_same_error(
            comm, lambda: file.read(columns if is_last_rank else rows), plait.ArgumentError, differ
        )
        assert str(columns) in text
        assert str(rows) in text
        assert f"rank {comm.size - 1} calls" in text
        expect_same_error(
            comm, lambda: file.read(part, region=np.s_[6:] if is_last_rank else np.s_[:6]), plait.ArgumentError, differ
        )
        local = np.zeros(rows.local_shape(comm.rank))
        text = expect_same_error(
            comm, lambda: file.write(local, rows) if is_last_rank else file.read(rows), plait.ArgumentError, differ
        )
        assert "calls write(" in text
        np.testing.assert_array_equal(file.read(rows), np.arange(120.0).reshape(SHAPE)[comm.rank :: comm.size])
    check_read(comm, path)


@pytest.mark.several_ranks
@pytest.mark.parametrize(
    ("name", "first_options", "second_options"),
    [
        ("mode", "r", "r+"),
        ("dtype", "f8", "i8"),
        ("shape", (12, 10), (10, 12)),
        ("order", "C", "F"),
        ("memory", 1 << 20, 1 << 21),
        ("strategy", "direct", "two-phase"),
        ("offset", 0, 8),
        ("readers", 1, 2),
    ],
)
def test_ranks_that_open_differently(comm, path, name, first_options, second_options):
    value = second_options if comm.rank == comm.size - 1 else first_options
    expect_same_error(
        comm,
        lambda: open_file(path, comm, **{name: value}),
        plait.ArgumentError,
        "the ranks of a collective call differ",
    )
    check_read(comm, path)


@pytest.mark.several_ranks
def test_ranks_that_open_different_files(comm, shared, path):
    name = shared / f"{comm.rank // (comm.size - 1)}.bin"
    text = expect_same_error(comm, lambda: open_file(name, comm, "w"), plait.ArgumentError, "0.bin")
    assert "1.bin" in text
    if comm.rank == 0:
        assert [entry.name for entry in shared.iterdir()] == ["a.bin"]
    check_read(comm, path)


@pytest.mark.several_ranks
def test_one_rank_opens_with_wrong_arguments(comm, path):
    is_last_rank = comm.rank == comm.size - 1
    for options in ({"mode": "x"}, {"dtype": object}, {"order": "K"}, {"shape": (1.5, "x")}, {"dtype": "nonsense"}):
        local_options = options if is_last_rank else {}
        text = expect_same_error(
            comm, lambda options=local_options: open_file(path, comm, **options), plait.ArgumentError
        )
        assert text.endswith(f"(on rank {comm.size - 1})")
    check_read(comm, path)


@pytest.mark.several_ranks
@pytest.mark.parametrize("wrong_rank", [0, -1])
def test_one_rank_abandons_a_new_file(comm, shared, path, wrong_rank):
    new = shared / "new.npy"
    local = np.zeros(make_row_layout(comm).local_shape(comm.rank))

    def write():
        with open_file(new, comm, "w") as file:
            file.write(local, make_row_layout(comm))
            if comm.rank == wrong_rank % comm.size:
                raise KeyError("stop")

    if comm.rank == wrong_rank % comm.size:
        with pytest.raises(KeyError):
            write()
        local_error = None
    else:
        local_error = catch_error(write)
    errors = [error for error in comm.allgather(local_error) if error is not None]
    assert len(errors) == comm.size - 1
    assert set(errors) == {errors[0]}
    assert errors[0][0] == "StoreError"
    assert f"{new} was abandoned" in errors[0][1]
    if comm.rank == 0:
        assert [entry.name for entry in shared.iterdir()] == ["a.bin"]
    check_read(comm, path)


def test_all_ranks_abandon_a_new_file(comm, shared, path):
    new = shared / "new.npy"
    with pytest.raises(KeyError), open_file(new, comm, "w"):
        raise KeyError("stop")
    check_read(comm, path)
    if comm.rank == 0:
        assert [entry.name for entry in shared.iterdir()] == ["a.bin"]


@pytest.mark.several_ranks
def test_one_rank_abandons_a_file_that_it_reads(comm, path):
    def work():
        with open_file(path, comm) as file:
            file.read(make_row_layout(comm))
            if comm.rank == comm.size - 1:
                raise KeyError("stop")
            file.read(make_row_layout(comm))

    if comm.rank == comm.size - 1:
        with pytest.raises(KeyError):
            work()
        local_error = None
    else:
        local_error = catch_error(work)
    errors = [error for error in comm.allgather(local_error) if error is not None]
    assert errors == [errors[0]] * (comm.size - 1)
    assert errors[0][0] == "StoreError"
    assert f"{path} was abandoned (on rank {comm.size - 1})" in errors[0][1]
    check_read(comm, path)


@pytest.mark.several_ranks
@pytest.mark.parametrize("mode", ["r", "r+", "w"])
def test_one_rank_closes_while_the_others_read(comm, shared, path, mode):
    name = path if mode != "w" else shared / "new.bin"
    file = open_file(name, comm, mode)
    is_last_rank = comm.rank == comm.size - 1
    text = expect_same_error(
        comm, lambda: file.close() if is_last_rank else file.read(make_row_layout(comm)), plait.ArgumentError, "differ"
    )
    assert "close()" in text
    # The failed call has changed nothing, so the same call works if all ranks make it.
    assert not file.closed
    assert file.read(make_row_layout(comm)).shape == make_row_layout(comm).local_shape(comm.rank)
    file.close()
    check_read(comm, path)


@pytest.mark.several_ranks
def test_one_rank_closes_a_new_file_while_the_others_write(comm, shared, path):
    new = shared / "new.bin"
    local = np.zeros(make_row_layout(comm).local_shape(comm.rank))

    def work():
        with open_file(new, comm, "w") as file:
            if comm.rank != comm.size - 1:
                file.write(local, make_row_layout(comm))

    expect_same_error(comm, work, plait.ArgumentError, "the ranks of a collective call differ")
    if comm.rank == 0:
        assert [entry.name for entry in shared.iterdir()] == ["a.bin"]
    check_read(comm, path)


@pytest.mark.several_ranks
def test_a_failed_write_that_one_rank_has_not_waited_for(comm, path):
    local = np.zeros(make_row_layout(comm).local_shape(comm.rank))
    file = open_file(path, comm, "r+")
    comm.Barrier()
    with limit_file_size(400):
        request = file.iwrite(local, make_row_layout(comm))
        if comm.rank:
            assert catch_error(request.wait)[0] == "StoreError"
        text = expect_same_error(comm, file.close, plait.StoreError, "at offset 400")
    assert text.endswith("(on rank 0)")
    file.write(np.arange(120.0).reshape(SHAPE)[comm.rank :: comm.size], make_row_layout(comm))
    file.close()
    check_read(comm, path)


@pytest.mark.several_ranks
@pytest.mark.parametrize("inner", ["r", "r+", "w"])
@pytest.mark.parametrize("outer", ["r", "w"])
def test_one_rank_abandons_two_files_at_once(comm, shared, path, outer, inner):
    names = [path if mode != "w" else shared / f"{i}.bin" for i, mode in enumerate((outer, inner))]

    def work():
        with open_file(names[0], comm, outer) as first, open_file(names[1], comm, inner) as second:
            first.read(make_row_layout(comm))
            if comm.rank == 0:
                raise KeyError("stop")
            second.read(make_row_layout(comm))

    if comm.rank == 0:
        with pytest.raises(KeyError):
            work()
        local_error = None
    else:
        local_error = catch_error(work)
    errors = comm.allgather(local_error)[1:]
    assert errors == [errors[0]] * (comm.size - 1)
    assert errors[0][0] == "StoreError"
    assert "was abandoned" in errors[0][1]
    check_read(comm, path)
    if comm.rank == 0:
        assert [entry.name for entry in shared.iterdir()] == ["a.bin"]


def test_invalid_communicators(comm, path):
    with pytest.raises(plait.ArgumentError, match="COMM_NULL"):
        open_file(path, MPI.COMM_NULL)
    with pytest.raises(plait.ArgumentError, match="int"):
        open_file(path, 7)
    if comm.size > 1:
        half = comm.Split(comm.rank % 2)
        between = half.Create_intercomm(0, comm, 1 - comm.rank % 2)
        with pytest.raises(plait.ArgumentError, match="intercommunicator"):
            open_file(path, between)
        between.Free()
        half.Free()
    check_read(comm, path)


def test_a_closed_file(comm, path):
    file = open_file(path, comm)
    file.close()
    file.close()
    expect_same_error(comm, lambda: file.read(make_row_layout(comm)), plait.ArgumentError, "closed")
    expect_same_error(comm, lambda: file.iread(make_row_layout(comm)).wait(), plait.ArgumentError, "closed")
    check_read(comm, path)


def test_a_full_disk(comm, shared, path):
    folder = shared / "disk"
    mounted = False
    if comm.rank == 0:
        folder.mkdir()
        mount = shutil.which("mount")
        command = [mount, "-t", "tmpfs", "-o", "size=1m", "plait-test", folder]
        mounted = bool(mount) and subprocess.run(command, capture_output=True, check=False).returncode == 0
        if mounted:
            with (folder / "a.bin").open("wb") as out:
                out.truncate(8 << 20)  # a hole, which takes disk space only when it is written
    if not comm.bcast(mounted):
        pytest.skip("mounting a small file system is not permitted here")
    try:
        if not all(comm.allgather((folder / "a.bin").exists())):
            pytest.skip("what one host mounts, the others do not see")
        options = {"shape": (1024, 1024), "dtype": "f8"}
        layout = plait.Layout((1024, 1024), "(*, block)", grid=(comm.size,))
        local = np.ones(layout.local_shape(comm.rank))
        for strategy in ("two-phase", "direct"):
            with open_file(folder / "a.bin", comm, "r+", **options, strategy=strategy) as file:
                text = expect_same_error(
                    comm, lambda file=file: file.write(local, layout), plait.StoreError, "cannot write"
                )
                assert "No space left" in text
        expect_same_error(comm, lambda: open_file(folder / "b.bin", comm, "w", **options), plait.StoreError, "8 MiB")
        if comm.rank == 0:
            assert [entry.name for entry in folder.iterdir()] == ["a.bin"]
        check_read(comm, path)
    finally:
        if comm.rank == 0:
            subprocess.run(["umount", "-l", folder], check=True)
