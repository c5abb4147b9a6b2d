"""Files, redistributions, streams and pipes of ranks without MPI, compared with NumPy."""

import subprocess
import sys

import jobs
import numpy as np
import pytest

import plait

# Draws layouts at random, the same on all ranks, and computes by NumPy what a rank owns.
ORACLE = """
import random
chance = random.Random(SEED)

def make_layout(shape, ranks):
    grid, dist, remaining = [], [], ranks
    for _ in shape:
        divisors = [d for d in range(1, remaining + 1) if remaining % d == 0]
        extent = chance.choice(divisors)
        remaining //= extent
        grid.append(extent)
    grid[chance.randrange(len(grid))] *= remaining
    for _ in grid:
        dist.append(chance.choice(["block", "balanced", "cyclic", "cyclic(2)", "cyclic(5)", "block(50)"]))
    return plait.Layout(shape, dist, grid=tuple(grid), order=chance.choice("CF"))

def local_part(whole, layout):
    return np.asarray(whole[np.ix_(*layout.indices(rank))], order="F" if layout.order == "F" else "C")

def check_equal(actual, expected):
    assert actual.shape == expected.shape and actual.dtype == expected.dtype, (actual.shape, expected.shape)
    assert (actual == expected).all()

SHAPES = [(1,), (37,), (5, 7), (24, 18), (3, 50, 2), (6, 1, 11)]
"""


def make_program(seed, source):
    """Return the program of a rank: the functions above, drawing from this seed, and its statements."""
    return ORACLE.replace("SEED", str(seed)) + source


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_files_equal_numpy_in_every_layout(ranks, tmp_path, nothing_left):
    source = """
for case in range(25):
    shape = chance.choice(SHAPES)
    whole = (np.arange(np.prod(shape)) * 1.5 + case).reshape(shape).astype(chance.choice(["f8", "i4", "u1", "c16"]))
    options = dict(strategy=chance.choice(["direct", "two-phase", None]), memory=chance.choice([0, 200, 4096]))
    first, second = make_layout(shape, size), make_layout(shape, size)
    name = os.path.join(FOLDER, f"{case}.npy")
    with plait.open(name, "w", comm=comm, shape=shape, dtype=whole.dtype, order=chance.choice("CF"), **options) as file:
        file.write(local_part(whole, first), first)
    check_equal(np.load(name), whole)
    with plait.open(name, comm=comm, **options) as file:
        check_equal(file.read(second), local_part(whole, second))
    comm.barrier()
print("equal")
""".replace("FOLDER", repr(str(tmp_path)))
    assert jobs.check_output(ranks, make_program(ranks, source)) == "equal\n" * ranks


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_redistributions_equal_numpy_in_every_layout(ranks):
    source = """
for case in range(25):
    shape = chance.choice(SHAPES)
    whole = (np.arange(np.prod(shape)) + case).reshape(shape).astype(chance.choice(["f8", "i2"]))
    first, second = make_layout(shape, size), make_layout(shape, size)
    options = dict(memory=chance.choice([None, 64, 4096]))
    check_equal(plait.redistribute(local_part(whole, first), first, second, comm, **options), local_part(whole, second))
    shared = plait.empty(first, whole.dtype, comm=comm)  # in shared memory
    shared[...] = local_part(whole, first)
    target = plait.empty(second, whole.dtype, comm=comm)
    plait.redistribute(shared, first, second, comm, out=target)
    check_equal(target, local_part(whole, second))
    plan = plait.Redistribution(first, second, whole.dtype, comm)
    plan.source[...] = local_part(whole, first)
    check_equal(plan.run(), local_part(whole, second))
print("equal")
"""
    assert jobs.check_output(ranks, make_program(10 + ranks, source)) == "equal\n" * ranks


@pytest.mark.long
def test_nonblocking_accesses_may_be_awaited_in_any_order(tmp_path):
    source = f"""
    layout = plait.Layout((60, 40), "(cyclic(3), *)", grid=(size,))
    whole = np.arange(2400.0).reshape(60, 40)
    local = np.ascontiguousarray(whole[layout.indices(rank)[0]])
    with plait.open("{tmp_path}/a.npy", "w", comm=comm, shape=(60, 40), dtype="f8") as file:
        file.iwrite(local, layout).wait()
    with plait.open("{tmp_path}/a.npy", comm=comm) as file:
        requests = [file.iread(layout) for _ in range(5)]
        for request in reversed(requests):
            assert (request.wait() == local).all()
    print("equal")
    """
    assert jobs.check_output(3, source) == "equal\n" * 3


def test_streams_of_every_mode_give_all_elements(tmp_path):
    np.arange(3000, dtype="i8").tofile(tmp_path / "numbers")
    source = f"""
    for mode in (1, 2, 3, 4):
        with plait.open("{tmp_path}/numbers", comm=comm, shape=(3000,), dtype="i8") as file:
            with file.stream(mode) as stream:
                reads = (30 if rank == 0 else 0) if mode == 1 else 10
                blocks = [stream.read(100) for _ in range(reads)]
        blocks_by_rank = comm.allgather([block.tolist() for block in blocks])
        if rank == 0:
            flat = [number for blocks in blocks_by_rank for block in blocks for number in block]
            if mode in (1, 2, 3):
                assert sorted(flat) == list(range(3000)), (mode, len(flat))
            else:
                assert all(blocks == blocks_by_rank[0] for blocks in blocks_by_rank)
                assert flat[:1000] == list(range(1000))
            print("equal with", mode)
    """
    assert jobs.check_output(3, source) == "".join(f"equal with {mode}\n" for mode in (1, 2, 3, 4))


def test_a_collective_fails_together(tmp_path):
    source = f"""
    layout = plait.Layout((60, 40), "(block, *)", grid=(size,))
    try:
        with plait.open("{tmp_path}/a.npy", "w", comm=comm, shape=(60, 40), dtype="f8") as file:
            file.write(np.zeros((3, 3) if rank == 1 else layout.local_shape(rank)), layout)
    except plait.ArgumentError as error:
        print(error)
    """
    lines = jobs.check_output(3, source).splitlines()
    assert len(lines) == 3
    assert len(set(lines)) == 1
    assert "(on rank 1)" in lines[0]
    assert list(tmp_path.glob("*.npy")) == []


def test_a_missing_communicator_is_an_error(tmp_path):
    source = f"""
    comm.barrier()
    try:
        with plait.open("{tmp_path}/a.npy", "w", shape=(4,), dtype="f8") as file:
            comm.barrier()
            file.write(np.zeros(4))
    except plait.ArgumentError as error:
        print(error)
        comm.barrier() if "is writing" in str(error) else None
    """
    status, output = jobs.run(2, jobs.python_command(source))
    assert status in (0, 1)
    assert "pass all ranks a communicator" in output


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("writers", "readers"), [(3, 2), (2, 3), (3, 1), (1, 4)])
def test_a_pipe_connects_two_runs(writers, readers):
    write = """
    layout = plait.Layout((40, 30), "(block, cyclic(2))", grid=(size, 1))
    with plait.open("pipe:flow", "w", comm=comm, shape=(40, 30), dtype="f8") as file:
        for step in range(4):
            whole = np.arange(1200.0).reshape(40, 30) + step
            file.write(np.ascontiguousarray(whole[np.ix_(*layout.indices(rank))]), layout)
    """
    read = """
    layout = plait.Layout((40, 30), "(*, cyclic(3))", grid=(size,))
    steps = 0
    with plait.open("pipe:flow", comm=comm) as file:
        for step in file:
            actual = file.read(layout)
            whole = np.arange(1200.0).reshape(40, 30) + steps
            assert (actual == whole[np.ix_(*layout.indices(rank))]).all()
            steps += 1
    print(steps)
    """
    with jobs.start(writers, jobs.python_command(write)) as writer:
        assert jobs.check_output(readers, read) == "4\n" * readers
        assert writer.communicate(timeout=300)[0] == ""
    assert writer.returncode == 0


@pytest.mark.long
def test_a_process_without_a_job_reads_a_pipe_of_one():
    write = """
    layout = plait.Layout((40,), "(cyclic)", grid=(size,))
    with plait.open("pipe:flow", "w", comm=comm, shape=(40,), dtype="i8") as file:
        file.write(np.arange(40)[layout.indices(rank)[0]].copy(), layout)
    """
    with jobs.start(3, jobs.python_command(write)) as writer, plait.open("pipe:flow") as file:
        for _ in file:
            assert file.read().tolist() == list(range(40))
        assert writer.wait(timeout=300) == 0


def test_programs_without_a_job_are_not_changed():
    source = "import plait; plait.world(); import sys; print([m for m in sys.modules if 'mpi4py' in m])"
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
