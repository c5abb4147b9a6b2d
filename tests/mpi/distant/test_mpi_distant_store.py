"""Arrays on the ranks' own disks (`distant:`): every layout, other numbers of ranks, replacement, and errors."""

import shutil
import subprocess

import numpy as np
import pytest
from brute_force import LayoutModel, distributions, make_distinct_array, random_model
from nodes import SEVERAL_HOSTS
from rewriting import random_options, random_rewrite
from same import expect_same_error

import plait

SHAPE = (12, 10)


def url(folder, striped=True, unit=None, name="a"):
    return (
        f"distant:{name}?folder={folder}"
        + ("" if striped is None else f"&striped={str(striped).lower()}")
        + ("" if unit is None else f"&unit={unit}")
    )


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def check(actual, expected):
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
@pytest.mark.parametrize(("unit", "order"), [(24, "C"), (100, "F"), (1, "C")])
def test_every_distribution(node_comm, disk, strategy, unit, order):
    global_array = make_distinct_array(SHAPE)
    options = {"comm": node_comm, "shape": SHAPE, "dtype": "f8", "order": order, "strategy": strategy}
    first_model = LayoutModel(SHAPE, ("block", "*"), (node_comm.size,))
    with plait.open(url(disk, unit=unit), "w", **options) as file:
        file.write(first_model.local(global_array, node_comm.rank), first_model.layout())
    models = [
        LayoutModel(SHAPE, (first, second), (rows, node_comm.size // rows))
        for rows in range(1, node_comm.size + 1)
        if node_comm.size % rows == 0
        for first in distributions(SHAPE[0], rows)
        for second in distributions(SHAPE[1], node_comm.size // rows)
    ]
    # Shape, dtype and order come from the file, not from the call.
    with plait.open(url(disk), "r+", comm=node_comm, strategy=strategy, memory=104) as file:
        assert (file.shape, file.dtype, file.order) == (SHAPE, np.dtype("f8"), order)
        for model in models[:: 1 + len(models) // 20]:
            check(file.read(model.layout()), model.local(global_array, node_comm.rank))
            global_array = global_array + 1
            file.write(model.local(global_array, node_comm.rank), model.layout())


@pytest.mark.parametrize("striped", [True, False, None])
def test_random_accesses(comm, disk, shared, striped):
    random = np.random.default_rng(11)
    folder = shared if striped is False else disk
    for _ in range(12):
        global_array, region, new_content, expected = random_rewrite(random, "f8", "u1", ">c16", "i2", "S3", "V1000")
        shape = global_array.shape
        first, reader = random_model(random, shape, comm.size), random_model(random, shape, comm.size)
        writer = random_model(random, new_content.shape, comm.size)
        options = {"comm": comm, **random_options(random, comm.size, global_array.itemsize)}
        name = url(folder, striped, int(random.choice([1, 5, 64, 1000, 4096])))
        description = {"shape": shape, "dtype": global_array.dtype, "order": str(random.choice(["C", "F"]))}
        with plait.open(name, "w", **options, **description) as file:
            file.write(first.local(global_array, comm.rank), first.layout())
        with plait.open(f"distant:a?folder={folder}", "r+", **options) as file:
            assert file.dtype == global_array.dtype
            check(file.read(reader.layout()), reader.local(global_array, comm.rank))
            file.iwrite(writer.local(new_content, comm.rank), writer.layout(), region=region).wait()
            check(file.iread(reader.layout()).wait(), reader.local(expected, comm.rank))


def test_other_numbers_of_ranks(comm, disk):
    """Half of the ranks, and single processes, read what all wrote, if they see all disks; all read what half wrote."""
    global_array = np.random.default_rng(3).random((600, 501))
    model = LayoutModel(global_array.shape, ("cyclic(7)", "*"), (comm.size,))
    for memory in (0, 100_000):
        with plait.open(
            url(disk, unit="10001"), "w", comm=comm, shape=global_array.shape, dtype="f8", memory=memory
        ) as file:
            file.write(model.local(global_array, comm.rank), model.layout())
        if not SEVERAL_HOSTS:
            with plait.open(url(disk), memory=memory) as file:
                np.testing.assert_array_equal(file.read(), global_array)
            half = comm.Split(comm.rank % 2, comm.rank)
            half_model = LayoutModel(global_array.shape, ("*", "block"), (half.size,))
            with plait.open(url(disk), comm=half, memory=memory) as file:
                check(file.read(half_model.layout()), half_model.local(global_array, half.rank))
            half.Free()
        comm.Barrier()
        parts = max(comm.size // 2, 1)
        first = comm.Split(0 if comm.rank < parts else 1, comm.rank)
        if comm.rank < parts:
            half_model = LayoutModel(global_array.shape, ("*", "block"), (first.size,))
            with plait.open(url(disk), "w", comm=first, shape=global_array.shape, dtype="f8", memory=memory) as file:
                file.write(half_model.local(global_array + 1, first.rank), half_model.layout())
        first.Free()
        comm.Barrier()
        with plait.open(url(disk), comm=comm) as file:
            check(file.read(model.layout()), model.local(global_array + 1, comm.rank))
            text = file.explain(model.layout())
            assert f"in {parts} component file{'' if parts == 1 else 's'} on the ranks' disks" in text
        comm.Barrier()


def test_empty_ranks_and_arrays(comm, disk):
    for shape in [(1,), (0, 3), (), (2, 1)]:
        global_array = make_distinct_array(shape, "i4")
        model = LayoutModel(shape, ("block",) + ("*",) * (len(shape) - 1), (comm.size,)) if shape else None
        layout = model.layout() if model else plait.Layout((), [])
        local = model.local(global_array, comm.rank) if model else (global_array if comm.rank == 0 else None)
        with plait.open(url(disk), "w", comm=comm, shape=shape, dtype="i4") as file:
            file.write(local, layout)
        with plait.open(url(disk), comm=comm) as file:
            assert file.shape == shape
            actual = file.read(layout)
        if local is None:
            assert actual is None
        else:
            check(actual, local)


def test_arrays_of_several_stripes_and_streams(comm, disk):
    global_array = np.arange(300_000, dtype="f8")
    layout = plait.Layout(global_array.shape, "(block)", grid=(comm.size,))
    with plait.open(url(disk, unit="4K"), "w", comm=comm, shape=global_array.shape, dtype="f8") as file:
        file.write(global_array[layout.indices(comm.rank)[0]], layout)
    with plait.open(url(disk), "r+", comm=comm) as file:
        stream = file.stream(2)
        count = 1000 + 7 * comm.rank
        before = sum(1000 + 7 * rank for rank in range(comm.rank))
        np.testing.assert_array_equal(stream.read(count), global_array[before : before + count])
        independent = file.stream(0)
        independent.seek(1000 * comm.rank)
        independent.write(global_array[:1000] - 1)
        comm.Barrier()
        independent.seek(1000 * ((comm.rank + 1) % comm.size))
        np.testing.assert_array_equal(independent.read(1000), global_array[:1000] - 1)


def test_files_that_are_replaced_or_abandoned(comm, disk):
    layout = plait.Layout(SHAPE, "(cyclic, *)", grid=(comm.size,))
    local = np.zeros(layout.local_shape(comm.rank))
    options = {"comm": comm, "shape": SHAPE, "dtype": "f8"}

    def read_values():
        with plait.open(url(disk), comm=comm) as file:
            return set(np.unique(file.read(layout)))

    for value, unit in [(1, 64), (2, 100)]:
        with plait.open(url(disk, unit=unit), "w", **options) as file:
            file.write(local + value, layout)
            if value > 1:
                assert read_values() <= {1.0}  # the old file, until the new one is closed
        assert read_values() <= {float(value)}
        names_after = names(disk)
        comm.Barrier()
    file = plait.open(url(disk), "w", **options)
    file.write(local + 5, layout)
    with pytest.raises(KeyError), file:
        raise KeyError("stop")
    comm.Barrier()
    assert read_values() <= {2.0}
    assert names(disk) == names_after
    comm.Barrier()
    file = plait.open(url(disk), "w", **options)
    del file  # neither closed nor abandoned
    comm.Barrier()
    assert read_values() <= {2.0}
    assert names(disk) == names_after


@pytest.mark.several_ranks
def test_one_rank_abandons_a_new_file(comm, disk):
    layout = plait.Layout(SHAPE, "(cyclic, *)", grid=(comm.size,))
    local = np.zeros(layout.local_shape(comm.rank))
    kind, expect_error = None, ""
    try:
        with plait.open(url(disk), "w", comm=comm, shape=SHAPE, dtype="f8") as file:
            if comm.rank == 1:
                raise KeyError("stop")
            file.write(local, layout)
    except (KeyError, plait.StoreError) as error:
        kind, expect_error = type(error), str(error)
    assert kind is (KeyError if comm.rank == 1 else plait.StoreError)
    assert comm.rank == 1 or "was abandoned; nothing was written" in expect_error
    comm.Barrier()
    assert names(disk) == []


def test_errors_are_the_same_everywhere(comm, disk):
    options = {"comm": comm, "shape": SHAPE, "dtype": "f8"}
    layout = plait.Layout(SHAPE, "(block, *)", grid=(comm.size,))

    def expect_error(name, mode, kind, text, **more):
        return expect_same_error(comm, lambda: plait.open(name, mode, **{**options, **more}), kind, text)

    expect_error(url(disk / "none"), "w", plait.StoreError, "No such file")
    expect_error(url(disk), "r", plait.StoreError, str(disk / "a"))
    expect_error(f"{url(disk)}&wide=1", "w", plait.ArgumentError, 'the option "wide" is not known')
    expect_error(url(disk, "there"), "w", plait.ArgumentError, "striped=there was given")
    expect_error(url(disk, unit=0), "w", plait.ArgumentError, "unit=0 is not above 0")
    expect_error(f"distant:{disk}/a?folder=/tmp", "w", plait.ArgumentError, "is an absolute path; leave out folder=")
    expect_error("distant:", "w", plait.ArgumentError, "no name after distant:")
    expect_error(url(disk), "w", plait.ArgumentError, "shape and dtype must be given", shape=None)
    assert names(disk) == []
    comm.Barrier()
    with plait.open(url(disk, unit=64), "w", **options) as file:
        file.write(np.ones(layout.local_shape(comm.rank)), layout)
    expect_error(url(disk, unit=65), "r", plait.ArgumentError, "has stripes of 64 bytes, but unit=65")
    expect_error(url(disk), "r", plait.ArgumentError, "holds an array 12x10, but the shape 3", shape=(3,))
    expect_error(url(disk), "r", plait.ArgumentError, "holds elements of dtype <f8, but <i4", dtype="<i4")
    with plait.open(url(disk), comm=comm) as file:
        expect_same_error(comm, lambda: file.write(np.ones(1), layout), plait.ArgumentError)
        np.testing.assert_array_equal(file.read(layout), 1)


def test_a_component_that_is_missing(comm, disk):
    layout = plait.Layout(SHAPE, "(block, *)", grid=(comm.size,))
    with plait.open(url(disk, unit=64), "w", comm=comm, shape=SHAPE, dtype="f8") as file:
        file.write(np.ones(layout.local_shape(comm.rank)), layout)
    comm.Barrier()
    if comm.rank == comm.size - 1:
        for entry in disk.iterdir():
            if f".c{comm.size - 1}of" in entry.name:
                entry.unlink()
    comm.Barrier()
    expect_same_error(comm, lambda: plait.open(url(disk), comm=comm), plait.StoreError, str(disk / "a"))


def test_a_full_disk(comm, disk):
    """The failed write is an error on all ranks, and the old array stays."""
    layout = plait.Layout((1 << 17,), "(block)", grid=(comm.size,))
    mounted = False
    if comm.rank == 0:
        command = [shutil.which("mount") or "", "-t", "tmpfs", "-o", "size=3m", "plait-test", disk]
        mounted = bool(command[0]) and subprocess.run(command, capture_output=True, check=False).returncode == 0
    if not comm.bcast(mounted):
        pytest.skip("mounting a small file system is not permitted here")
    try:
        local = np.ones(layout.local_shape(comm.rank))
        with plait.open(url(disk), "w", comm=comm, shape=layout.shape, dtype="f8") as file:
            file.write(local, layout)
        names_after = names(disk)
        comm.Barrier()
        large = plait.Layout((1 << 22,), "(block)", grid=(comm.size,))
        file = plait.open(url(disk), "w", comm=comm, shape=large.shape, dtype="f8")
        local = np.ones(large.local_shape(comm.rank))
        expect_same_error(comm, lambda: file.write(local, large), plait.StoreError, "No space left on device")
        assert file.closed
        comm.Barrier()
        with plait.open(url(disk), comm=comm) as file:
            np.testing.assert_array_equal(file.read(layout), 1)
        assert names(disk) == names_after
    finally:
        comm.Barrier()
        if comm.rank == 0:
            subprocess.run(["umount", "-l", disk], check=True)


def test_folders_by_the_setting(comm, disk, monkeypatch):
    """Rank 0's value of the environment variable applies to all ranks."""
    monkeypatch.setenv("PLAIT_DISTANT_FOLDER", str(disk) if comm.rank == 0 else "elsewhere")
    layout = plait.Layout(SHAPE, "(block, *)", grid=(comm.size,))
    with plait.open("distant:b?striped=true", "w", comm=comm, shape=SHAPE, dtype="f8") as file:
        file.write(np.ones(layout.local_shape(comm.rank)), layout)
    assert any(name.startswith("b.c") for name in names(disk))
    with plait.open("distant:b", comm=comm) as file:
        np.testing.assert_array_equal(file.read(layout), 1)


def test_in_a_shared_folder_the_array_is_one_npy_file(comm, shared):
    global_array = make_distinct_array(SHAPE)
    layout = LayoutModel(SHAPE, ("*", "cyclic"), (comm.size,))
    for striped in (False, None):
        with plait.open(url(shared, striped), "w", comm=comm, shape=SHAPE, dtype="f8") as file:
            file.write(layout.local(global_array, comm.rank), layout.layout())
        if comm.rank == 0:
            assert names(shared) == ["a"]
            np.testing.assert_array_equal(np.load(shared / "a"), global_array)
        comm.Barrier()


@pytest.mark.parametrize("striped", [True, None])
def test_copies(comm, disk, shared, striped):
    """All ranks copy from an ordinary file to their disks and back."""
    global_array = make_distinct_array((101, 37), ">f4")
    if comm.rank == 0:
        np.save(shared / "a.npy", global_array)
    comm.Barrier()
    for memory in (1 << 20, 5000):
        done = plait.copy(shared / "a.npy", url(disk, striped, 1000), comm=comm, memory=memory)
        assert (done.shape, done.dtype, done.bytes, done.ranks) == (
            (101, 37),
            np.dtype(">f4"),
            global_array.nbytes,
            comm.size,
        )
        assert (done.windows > 1) == (memory == 5000)
        plait.copy(
            f"distant:a?folder={disk}",
            shared / "b.npy",
            comm=comm,
            memory=memory,
            layout=f"(cyclic, *) onto ({comm.size})",
        )
        if comm.rank == 0:
            assert (shared / "b.npy").read_bytes() == (shared / "a.npy").read_bytes()
        comm.Barrier()
    plait.copy(f"distant:a?folder={disk}", url(disk, striped, 3000, "c"), comm=comm, memory=5000)
    with plait.open(f"distant:c?folder={disk}", comm=comm) as file:
        layout = LayoutModel(global_array.shape, ("block", "*"), (comm.size,))
        check(file.read(layout.layout()), layout.local(global_array, comm.rank))
    same = expect_same_error(
        comm, lambda: plait.copy(shared / "a.npy", shared / "a.npy", comm=comm), plait.ArgumentError, "source itself"
    )
    assert str(shared / "a.npy") in same


@pytest.mark.several_ranks
def test_mistakes_of_one_rank_are_errors_on_all(comm, disk, shared):
    """Includes mistakes that are detected after the source is opened and before the target is."""
    if comm.rank == 0:
        np.save(shared / "a.npy", make_distinct_array((64, 64)))
    comm.Barrier()
    last = comm.rank == comm.size - 1
    for wrong, text in [
        ({"memory": 0}, "memory=0 bytes hold nothing"),
        ({"memory": 9}, "holds no element of 8 bytes"),
        ({"layout": "(block, round)"}, 'found "round"'),
    ]:
        arguments = {"memory": 4096, **(wrong if last else {})}
        expect_same_error(
            comm, lambda arguments=arguments: plait.copy(shared / "a.npy", url(disk), comm=comm, **arguments),
            plait.ArgumentError, text,
        )  # fmt: skip
    assert names(disk) == []


def test_one_rank_interrupts_a_copy(comm, disk, shared):
    if comm.rank == 0:
        np.save(shared / "a.npy", make_distinct_array((64, 64)))
    comm.Barrier()

    def stop(done, total):
        if comm.rank == comm.size - 1 and done > total // 3:
            raise KeyError("enough")

    kinds = KeyError if comm.rank == comm.size - 1 else plait.StoreError
    with pytest.raises(kinds, match=r"enough|abandoned"):
        plait.copy(shared / "a.npy", url(disk), comm=comm, memory=4096, progress=stop)
    comm.Barrier()
    assert names(disk) == []
