"""Striped files of all ranks: every layout, other numbers of ranks, replacement, and errors on all ranks."""

import os
import shutil
import subprocess

import numpy as np
import pytest
from brute_force import LayoutModel, distributions, make_distinct_array, random_model
from rewriting import random_options, random_rewrite
from same import expect_same_error

import plait

SHAPE = (12, 10)


@pytest.fixture
def disks(comm, shared):
    """Three folders; they exist after the first collective call of the test."""
    folders = [shared / f"disk{i}" for i in range(3)]
    if comm.rank == 0:
        for folder in folders:
            folder.mkdir()
    return folders


def url(path, disks, unit):
    return f"stripe:{path}?disks={','.join(map(str, disks))}&unit={unit}"


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def check(actual, expected):
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
@pytest.mark.parametrize(("unit", "order"), [(24, "C"), (100, "F"), (1, "C")])
def test_every_distribution(comm, shared, disks, strategy, unit, order):
    global_array = make_distinct_array(SHAPE)
    options = {"comm": comm, "shape": SHAPE, "dtype": "f8", "order": order, "strategy": strategy}
    first_model = LayoutModel(SHAPE, ("block", "*"), (comm.size,))
    with plait.open(url(shared / "a", disks, unit), "w", **options) as file:
        file.write(first_model.local(global_array, comm.rank), first_model.layout())
    models = [
        LayoutModel(SHAPE, (first, second), (rows, comm.size // rows))
        for rows in range(1, comm.size + 1)
        if comm.size % rows == 0
        for first in distributions(SHAPE[0], rows)
        for second in distributions(SHAPE[1], comm.size // rows)
    ]
    with plait.open(f"stripe:{shared / 'a'}", "r+", memory=104, **options) as file:
        for model in models[:: 1 + len(models) // 40]:
            check(file.read(model.layout()), model.local(global_array, comm.rank))
            global_array = global_array + 1
            file.write(model.local(global_array, comm.rank), model.layout())


def test_random_accesses(comm, shared, disks):
    random = np.random.default_rng(11)
    for _ in range(20):
        global_array, region, new_content, expected = random_rewrite(random, "f8", "u1", "c16", "i2", "S3", "V1000")
        shape = global_array.shape
        first, reader = random_model(random, shape, comm.size), random_model(random, shape, comm.size)
        writer = random_model(random, new_content.shape, comm.size)
        options = {
            "comm": comm,
            "shape": shape,
            "dtype": global_array.dtype,
            "order": str(random.choice(["C", "F"])),
            **random_options(random, comm.size, global_array.itemsize),
        }
        name = url(shared / "a", disks[: int(random.integers(1, 4))], int(random.choice([1, 5, 64, 1000, 4096])))
        with plait.open(name, "w", **options) as file:
            file.write(first.local(global_array, comm.rank), first.layout())
        with plait.open(name, "r+", **options) as file:
            check(file.read(reader.layout()), reader.local(global_array, comm.rank))
            file.write(writer.local(new_content, comm.rank), writer.layout(), region=region)
            check(file.read(reader.layout()), reader.local(expected, comm.rank))


@pytest.mark.parametrize("unit", ["4K", "64K", "10001"])
def test_arrays_of_many_windows(comm, shared, disks, unit):
    global_array = np.random.default_rng(3).random((600, 501))
    models = [
        LayoutModel(global_array.shape, ("*", "cyclic"), (comm.size,)),
        LayoutModel(global_array.shape, ("cyclic(7)", "*"), (comm.size,)),
    ]
    for memory in (0, 100_000):
        options = {"shape": global_array.shape, "dtype": "f8", "strategy": "two-phase", "memory": memory}
        with plait.open(url(shared / "a", disks, unit), "w", comm=comm, **options) as file:
            file.write(models[0].local(global_array, comm.rank), models[0].layout())
        with plait.open(f"stripe:{shared / 'a'}", comm=comm, **options) as file:
            for model in models:
                check(file.read(model.layout()), model.local(global_array, comm.rank))
        # A single process, and half of the ranks, read what all ranks have written.
        with plait.open(f"stripe:{shared / 'a'}", **options) as file:
            np.testing.assert_array_equal(file.read(), global_array)
        half = comm.Split(comm.rank % 2, comm.rank)
        model = LayoutModel(global_array.shape, ("block", "*"), (half.size,))
        with plait.open(f"stripe:{shared / 'a'}", comm=half, **options) as file:
            check(file.read(model.layout()), model.local(global_array, half.rank))
        half.Free()
        comm.Barrier()


def test_files_that_are_replaced_or_abandoned(comm, shared, disks):
    layout = plait.Layout(SHAPE, "(cyclic, *)", grid=(comm.size,))
    local = np.zeros(layout.local_shape(comm.rank))
    options = {"comm": comm, "shape": SHAPE, "dtype": "f8"}
    for i, name in enumerate([url(shared / "a", disks, 64), url(shared / "a", disks[:2], 100), str(shared / "a")]):
        with plait.open(name, "w", **options) as file:
            file.write(local + i, layout)
        with plait.open(name.partition("?")[0], **options) as file:
            assert (file.read(layout) == i).all()
        if comm.rank == 0:
            assert [len(names(disk)) for disk in disks] == [[1, 1, 1], [1, 1, 0], [0, 0, 0]][i]
    file = plait.open(url(shared / "a", disks, 64), "w", **options)
    file.write(local + 5, layout)
    with pytest.raises(KeyError), file:
        raise KeyError("stop")
    comm.Barrier()
    with plait.open(shared / "a", **options) as file:
        assert (file.read(layout) == 2).all()
    if comm.rank == 0:
        assert names(shared) == ["a", "disk0", "disk1", "disk2"]
        assert [names(disk) for disk in disks] == [[], [], []]


def test_errors_are_the_same_everywhere(comm, shared, disks):
    options = {"comm": comm, "shape": SHAPE, "dtype": "f8"}
    layout = plait.Layout(SHAPE, "(block, *)", grid=(comm.size,))

    def expect_error(name, mode, kind, text):
        return expect_same_error(comm, lambda: plait.open(name, mode, **options), kind, text)

    path = shared / "a"
    expect_error(url(path, [disks[0], shared / "none"], 64), "w", plait.StoreError, f"to the disk {shared / 'none'}")
    expect_error(url(path, disks, 0), "w", plait.ArgumentError, "unit=0 is not above 0")
    expect_error(f"stripe:{path}?wide=1", "w", plait.ArgumentError, 'the option "wide" is not known')
    expect_error(f"stripe:{path}", "w", plait.ArgumentError, "PLAIT_DISKS")
    expect_error(f"stripe:{path}", "r", plait.StoreError, "No such file")
    with plait.open(url(path, disks, 64), "w", **options) as file:
        file.write(np.ones(layout.local_shape(comm.rank)), layout)
    expect_error(f"stripe:{path}?unit=65", "r", plait.ArgumentError, "stripes of 64 bytes, but unit=65")
    expect_error(path, "r", plait.ArgumentError, f"open it as stripe:{path}")
    part = next(disks[1].iterdir())
    comm.Barrier()
    file = plait.open(f"stripe:{path}", **options, strategy="two-phase")
    comm.Barrier()
    if comm.rank == 0:
        os.truncate(part, 30)
    comm.Barrier()
    text = expect_same_error(comm, lambda: file.read(layout), plait.StoreError, "truncated")
    assert f"cannot read {part} at offset 30" in text
    file.close()
    expect_error(
        f"stripe:{path}", "r+", plait.StoreError, f"component file 2 of 3, {part} has 30 bytes, but should have 320"
    )
    if comm.rank == 0:
        part.unlink()
    expect_error(f"stripe:{path}", "r", plait.StoreError, f"component file 2 of 3, {part}: No such file")
    if comm.rank == 0:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("stripes 1", "stripes 9"), encoding="utf-8")
    expect_error(f"stripe:{path}", "r", plait.StoreError, "of version 9")


@pytest.mark.several_ranks
def test_ranks_that_pass_different_stripe_units(comm, shared, disks):
    name = url(shared / "a", disks, 64 if comm.rank else 128)
    expect_same_error(
        comm, lambda: plait.open(name, "w", comm=comm, shape=SHAPE, dtype="f8"), plait.ArgumentError, "unit=128"
    )
    if comm.rank == 0:
        assert names(shared) == ["disk0", "disk1", "disk2"]


def test_a_full_disk(comm, shared, disks):
    mounted = False
    if comm.rank == 0:
        mount = shutil.which("mount")
        command = [mount, "-t", "tmpfs", "-o", "size=1m", "plait-test", disks[1]]
        mounted = bool(mount) and subprocess.run(command, capture_output=True, check=False).returncode == 0
    if not comm.bcast(mounted):
        pytest.skip("mounting a small file system is not permitted here")
    try:
        name = url(shared / "a", disks, 4096)
        expect_same_error(
            comm,
            lambda: plait.open(name, "w", comm=comm, shape=(1024, 1024), dtype="f8"),
            plait.StoreError,
            f"for the component file {disks[1]}/a.stripe1-",
        )
        if comm.rank == 0:
            assert names(shared) == ["disk0", "disk1", "disk2"]
            assert [names(disk) for disk in disks] == [[], [], []]
    finally:
        if comm.rank == 0:
            subprocess.run(["umount", "-l", disks[1]], check=True)
