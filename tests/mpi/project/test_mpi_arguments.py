"""Invalid arguments, passed by one rank or by all: every rank raises the same plait.Error, and no rank waits for ever.

All ranks draw the arguments and values to test from the same seed.  If a rank hangs, the other ranks end the job (see
tests/mpi/ranks.py).
"""

import random

import numpy as np
import pytest
from same import catch_error, expect_same_error

import plait
import plait.distant
import plait.shared
from plait.patterns import GSI, drive

SHAPE = (6, 4)


class HostileArgument:
    """Raises from every conversion that a call may try on it."""

    def __index__(self):
        raise RuntimeError("no number today")

    def __repr__(self):
        raise RuntimeError("no words either")


NUMBERS = [2**70, -(2**70), 2**63, -(2**63) - 1, -(2**63), -1, 1.5, "4", None, b"1", [], object(), HostileArgument()]
NUMBERS += [np.array([1, 2]), np.float64(2), 1j]
TEXTS = ["", "\udc80\udcff", "a\0b", b"\xff\0", 7, 1.5, [], object(), HostileArgument(), "x" * 5000]
FLAGS = [2, "no", np.array([1, 2]), [], object(), HostileArgument()]
LAYOUTS = [
    4,
    (),
    object(),
    HostileArgument(),
    plait.Layout((5,), "(block)", grid=(1,)),
    plait.Layout(SHAPE, "(cyclic(2), *)", grid=(64,)),
]
ARRAYS = [
    1,
    "a",
    [],
    [None],
    object(),
    HostileArgument(),
    np.zeros(0),
    np.zeros((3, 3)),
    np.zeros(SHAPE, "f4"),
    np.zeros(1, object),
]
REGIONS = [
    (0,) * 9,
    1.5,
    "a",
    np.s_[::-1],
    np.s_[::0],
    np.s_[0, 2**70],
    np.s_["a":"b"],
    HostileArgument(),
    [1, 2],
    np.s_[..., ...],
]
DTYPES = ["f9", object, 5, HostileArgument(), "V0", np.dtype("(3,)f8"), [("a", object)]]


def make_row_layout(comm):
    return plait.Layout(SHAPE, "(balanced, *)", grid=(comm.size,))


def get_common_error(comm, call):
    """Makes a call on all ranks, and returns the error that all raise, or None; fails if their errors differ."""
    everyone = comm.allgather(catch_error(call))
    assert all(other == everyone[0] for other in everyone), everyone
    return everyone[0]


def choose_invalid_arguments(generator, valid, invalid, count):
    """Yields the name of an argument, an invalid value, and which ranks pass it, up to `count` times per argument."""
    for name, values in invalid.items():
        for value in generator.sample(values, min(count, len(values))):
            yield name, value, generator.choice(["one", "all"])


def count_errors(comm, call, valid, invalid, seed, count=4):
    """Makes a collective call with one wrong argument at a time; returns the number of calls that raise."""
    generator = random.Random(seed)
    error_count = 0
    for name, value, ranks in choose_invalid_arguments(generator, valid, invalid, count):
        victim = generator.randrange(comm.size)
        passes_invalid_value = ranks == "all" or comm.rank == victim
        error = get_common_error(comm, lambda: call(**{**valid, name: value} if passes_invalid_value else valid))  # noqa: B023
        assert error is None or "std::" not in error[1], error
        error_count += error is not None
    return error_count


@pytest.fixture
def path(comm, shared):
    name = shared / "a.npy"
    if comm.rank == 0:
        np.save(name, np.arange(24.0).reshape(SHAPE))
    return name


@pytest.mark.parametrize("seed", range(2))
def test_opening(comm, path, seed):
    invalid = {
        "url": [*TEXTS, 5],
        "mode": TEXTS,
        "shape": [*NUMBERS[:-6], (6, 2**70), (6, "a"), (-1, 4), (6, HostileArgument())],
        "dtype": DTYPES,
        "order": TEXTS[1:],
        "offset": NUMBERS,
        "memory": NUMBERS,
        "strategy": TEXTS[1:],
        "readers": NUMBERS,
    }
    valid = {"url": path, "mode": "r", "shape": SHAPE, "dtype": "f8", "order": "C", "offset": 0, "memory": 0,
            "strategy": None, "readers": 0}  # fmt: skip

    def call(**arguments):
        plait.open(arguments.pop("url"), arguments.pop("mode"), comm=comm, **arguments).close()

    assert count_errors(comm, call, valid, invalid, seed) > 20


@pytest.mark.parametrize("seed", range(2))
def test_accesses(comm, path, seed):
    layout = make_row_layout(comm)
    invalid = {"layout": LAYOUTS, "out": ARRAYS, "region": REGIONS, "fill_halo": FLAGS}
    with plait.open(path, "r+", comm=comm) as file:
        valid = {"layout": layout, "out": None, "region": None, "fill_halo": False}
        assert count_errors(comm, file.read, valid, invalid, seed) > 10
        assert count_errors(comm, lambda **kwargs: file.iread(**kwargs).wait(), valid, invalid, seed) > 10
        array = file.read(layout)
        valid = {"array": array, "layout": layout, "region": None}
        invalid = {"layout": LAYOUTS, "array": ARRAYS, "region": REGIONS}
        assert count_errors(comm, file.write, valid, invalid, seed) > 8
        assert count_errors(comm, lambda **kwargs: file.iwrite(**kwargs).wait(), valid, invalid, seed) > 8
        np.testing.assert_array_equal(file.read(layout), array)


def test_a_step_that_is_longer_than_any_array(comm, path):
    scalar_grid = plait.Layout((1, 4), "(*, *)", grid=())
    with plait.open(path, comm=comm) as file:
        part = file.read(scalar_grid, region=np.s_[0 : 1 : 10**30])
        assert part is None or part.tolist() == [[0, 1, 2, 3]]


def test_streams(comm, path):
    with plait.open(path, "r+", comm=comm) as file:
        assert count_errors(comm, file.stream, {"mode": 2}, {"mode": NUMBERS}, 0, 16) > 10
        stream = file.stream(4)
        valid = {"count": 3, "out": None}
        assert count_errors(comm, stream.read, valid, {"count": NUMBERS, "out": ARRAYS}, 1, 16) > 15
        assert count_errors(comm, lambda **kwargs: stream.iread(**kwargs).wait(), valid, {"count": NUMBERS}, 2, 16) > 10
        assert count_errors(comm, stream.seek, {"element": 0}, {"element": NUMBERS}, 3, 16) > 10
        assert count_errors(comm, stream.write, {"array": np.zeros(2)}, {"array": ARRAYS}, 4, 16) > 5
        stream.seek(0)
        assert stream.read(1).size == 1


def test_redistributions(comm):
    src, dst = make_row_layout(comm), plait.Layout(SHAPE, "(*, balanced)", grid=(comm.size,))
    array = np.zeros(src.padded_shape(comm.rank))
    valid = {"array": array, "src": src, "dst": dst, "out": None, "memory": None, "fill_halo": False,
            "source_region": None, "target_region": None}  # fmt: skip
    invalid = {"array": ARRAYS, "src": LAYOUTS, "dst": LAYOUTS, "out": ARRAYS, "memory": NUMBERS, "fill_halo": FLAGS,
           "source_region": REGIONS, "target_region": REGIONS}  # fmt: skip
    assert count_errors(comm, lambda **kwargs: plait.redistribute(comm=comm, **kwargs), valid, invalid, 0, 5) > 20
    assert (
        count_errors(comm, lambda **kwargs: plait.iredistribute(comm=comm, **kwargs).wait(), valid, invalid, 1, 3) > 12
    )
    plan = {"src": src, "dst": dst, "dtype": "f8", "memory": None, "fill_halo": False}
    invalid = {"src": LAYOUTS, "dst": LAYOUTS, "dtype": DTYPES, "memory": NUMBERS, "fill_halo": FLAGS}
    assert (
        count_errors(comm, lambda **kwargs: plait.Redistribution(comm=comm, **kwargs).close(), plan, invalid, 2, 5) > 15
    )
    invalid = {"layout": LAYOUTS, "dtype": DTYPES}
    assert (
        count_errors(
            comm, lambda **kwargs: plait.empty(comm=comm, **kwargs), {"layout": src, "dtype": "f8"}, invalid, 3, 8
        )
        > 8
    )
    with plait.Redistribution(src, dst, "f8", comm) as redistribution:
        invalid = {"array": ARRAYS, "out": ARRAYS}
        local = {"array": array, "out": np.zeros(dst.padded_shape(comm.rank))}
        assert count_errors(comm, redistribution.run, local, invalid, 4, 8) > 8


@pytest.mark.several_ranks
def test_a_plan_that_one_rank_has_closed(comm):
    redistribution = plait.Redistribution(make_row_layout(comm), make_row_layout(comm), "f8", comm)
    if comm.rank == 1:
        redistribution.close()
    expect_same_error(comm, redistribution.run, plait.ArgumentError)
    redistribution.close()


def test_copies(comm, path, shared):
    valid = {"source": path, "target": shared / "b.npy", "shape": None, "dtype": None, "offset": 0, "layout": None,
            "memory": 1 << 20}  # fmt: skip
    invalid = {"source": TEXTS, "target": TEXTS, "shape": NUMBERS[:6], "dtype": DTYPES, "offset": NUMBERS,
           "layout": TEXTS[1:9], "memory": NUMBERS}  # fmt: skip
    assert count_errors(comm, lambda **kwargs: plait.copy(comm=comm, **kwargs), valid, invalid, 0, 3) > 8


def test_distant_and_shared_files(comm, disk):
    valid = {"path": disk / f"d-{comm.rank}", "mode": "w", "temporary": True}
    invalid = {"path": TEXTS[1:9], "mode": TEXTS, "temporary": FLAGS}

    def distant(**kwargs):
        plait.distant.open(comm=comm, **kwargs).close()

    assert count_errors(comm, distant, valid, invalid, 0, 3) > 5

    def shared_file(**kwargs):
        plait.shared.open(comm=comm, **kwargs).close()

    valid = {"path": disk / "s", "mode": "w", "persistent": False, "atomic": False, "unit": None, "limit": None,
            "expected": None, "request": None, "striped": False}  # fmt: skip
    invalid = {"path": TEXTS[:9], "mode": TEXTS, "persistent": FLAGS, "atomic": FLAGS, "unit": NUMBERS[:6],
           "limit": NUMBERS[:6], "expected": NUMBERS[:6], "request": NUMBERS[:6], "striped": FLAGS}  # fmt: skip
    assert count_errors(comm, shared_file, valid, invalid, 1, 3) > 12
    with plait.shared.open(disk / "s", "w", comm=comm) as file:  # "striped" if the hosts share no folder
        assert count_errors(comm, file.resize, {"size": 8}, {"size": NUMBERS}, 2, 8) > 6


def test_accesses_of_distant_and_shared_files(comm, disk):
    array = np.zeros(8, "u1")
    valid = {"offset": 0, "array": array, "rank": comm.rank}
    invalid = {"offset": NUMBERS, "array": [*ARRAYS[:6], -1, 2**70], "rank": NUMBERS}

    def check_arguments(function, valid, invalid, seed):
        generator = random.Random(seed)
        for name, value, _ in choose_invalid_arguments(generator, valid, invalid, 6):
            try:
                function(*{**valid, name: value}.values())
            except plait.Error:
                continue
            except Exception as error:
                raise AssertionError((function, name, value)) from error

    with plait.distant.open(disk / f"d-{comm.rank}", "w", comm=comm, temporary=True) as file:
        file.write(0, array, comm.rank)
        check_arguments(file.read, valid, invalid, 0)
        check_arguments(file.write, valid, {**invalid, "offset": NUMBERS[4:]}, 1)
        check_arguments(lambda *args: file.iread(*args).wait(), valid, invalid, 2)
        check_arguments(lambda *args: file.iwrite(*args).wait(), valid, {**invalid, "offset": NUMBERS[4:]}, 3)
        for call in (file.size, file.sync, file.direct):
            check_arguments(call, {"rank": comm.rank}, {"rank": NUMBERS}, 4)
        check_arguments(file.resize, {"size": 8, "rank": comm.rank}, {"size": NUMBERS, "rank": NUMBERS}, 5)
    valid, invalid = {"offset": 0, "array": array}, {"offset": NUMBERS[4:], "array": invalid["array"]}
    with plait.shared.open(disk / "t", "w", comm=comm) as file:
        for call in (file.read, file.write):
            check_arguments(call, valid, invalid, 6)
        for call in (file.iread, file.iwrite):
            check_arguments(lambda *args, call=call: call(*args).wait(), valid, invalid, 7)
        check_arguments(file.owner, {"component": 0}, {"component": NUMBERS}, 8)


NAMES = ["", "\udc80\udcff", "a\0b", b"\xff", 7, None, [], object(), HostileArgument(), np.array([1, 2])]
ATTRIBUTES = [
    7,
    "a",
    [("a", 1)],
    {"": 1},
    {1: 2},
    {"a": None},
    {"a": 2**70},
    {"a": 1j},
    {"a": []},
    {"a": HostileArgument()},
]
ATTRIBUTES += [{"\udc80": 1}, {"a": "\udc80"}, {"a": object()}, object(), HostileArgument()]


@pytest.fixture
def meeting(comm, shared, monkeypatch):
    folder = shared / "meet"
    if comm.rank == 0:
        folder.mkdir(mode=0o700)
    monkeypatch.setenv("PLAIT_MEET", str(folder))


def test_steps(comm, meeting):
    layout = make_row_layout(comm)
    array = np.zeros(layout.padded_shape(comm.rank))
    numbers = iter(range(10**6))  # each call defines a new array
    with plait.open("pipe:steps?readers=0&drop=oldest", "w", comm=comm, shape=SHAPE, dtype="f8") as file:

        def begin(attributes):
            file.begin_step(attributes)
            file.end_step()

        assert count_errors(comm, begin, {"attributes": {"a": 1}}, {"attributes": ATTRIBUTES}, 0, 20) > 10

        def define(variable, shape, dtype):
            unused_name = f"array {next(numbers)}"
            name = unused_name if isinstance(variable, str) and variable == "new" else variable
            file.define(name, shape, dtype)
            file.write(array, layout, variable=name)

        file.begin_step()
        valid = {"variable": "new", "shape": SHAPE, "dtype": "f8"}
        invalid = {"variable": NAMES, "shape": [*NUMBERS[:10], (6, 2**70), (6, "a"), (-1, 4)], "dtype": DTYPES}
        assert count_errors(comm, define, valid, invalid, 1, 8) > 15
        valid = {"array": array, "variable": "data"}
        assert (
            count_errors(comm, lambda **kwargs: file.write(layout=layout, **kwargs), valid, {"variable": NAMES}, 2, 10)
            > 6
        )
        get_common_error(comm, file.end_step)  # fails, and discards the step, if a write to it has failed
        file.begin_step()
        file.write(array, layout)
        file.end_step()


def count_local_errors(call, valid, invalid, seed, count=8):
    """Makes a call that is not collective with one wrong argument at a time; returns the number of calls that raise."""
    generator = random.Random(seed)
    error_count = 0
    for name, value, _ in choose_invalid_arguments(generator, valid, invalid, count):
        error = catch_error(lambda: call(**{**valid, name: value}))  # noqa: B023
        assert error is None or (error[1] and "std::" not in error[1]), error
        error_count += error is not None
    assert catch_error(lambda: call(**valid)) is None
    return error_count


def test_queries_that_are_not_collective(comm, path, meeting):
    valid = {"layout": make_row_layout(comm), "region": None, "write": False, "fill_halo": False}
    invalid = {"layout": LAYOUTS, "region": REGIONS, "write": FLAGS, "fill_halo": FLAGS}
    with plait.open(path, comm=comm) as file:
        assert count_local_errors(file.explain, valid, invalid, 0) > 10
    with plait.open("pipe:questions?readers=0", "w", comm=comm, shape=SHAPE, dtype="f8"):
        assert (
            count_local_errors(
                plait.pipe_status, {"url": "pipe:questions?timeout=5"}, {"url": [*TEXTS, "pipe:", "pipe:no"]}, 1, 20
            )
            > 8
        )
        comm.Barrier()
    timeouts = [number for number in NUMBERS if not isinstance(number, int) or number < 0] + [float("nan"), True]
    assert (
        count_local_errors(lambda timeout: plait.world(timeout).rank, {"timeout": 1}, {"timeout": timeouts}, 2, 20) > 5
    )


def test_offers(comm, disk):
    with plait.distant.open(disk / f"d-{comm.rank}", "w", comm=comm, temporary=True):
        names = iter(range(10**6))

        def offer(name, path, mode, temporary):
            unused_name = f"{comm.rank}-{next(names)}" if isinstance(name, str) and name == "new" else name
            plait.distant.offer(unused_name, path, mode, comm=comm, temporary=temporary).close()

        valid = {"name": "new", "path": disk / f"o-{comm.rank}", "mode": "w", "temporary": True}
        invalid = {"name": TEXTS, "path": TEXTS[:9], "mode": TEXTS, "temporary": FLAGS}
        assert count_local_errors(offer, valid, invalid, 0) > 15
        offered = plait.distant.offer(f"own {comm.rank}", disk / f"o-{comm.rank}", "w", comm=comm, temporary=True)
        valid = {"name": f"own {comm.rank}"}
        assert (
            count_local_errors(
                lambda name: plait.distant.find(name, comm=comm).close(), valid, {"name": [*TEXTS, "no"]}, 1, 20
            )
            > 8
        )
        offered.close()


def test_patterns(comm, path):
    size = comm.size
    valid = {"pattern": GSI(24, size, 5), "mode": None, "fill": None}
    invalid = {"pattern": [*LAYOUTS[:4], GSI(24, size + 1, 5), GSI(23, size, 5), GSI(24, size, 5, kind="write"), GSI],
           "mode": [*NUMBERS, 4, lambda: 1]}  # fmt: skip
    with plait.open(path, comm=comm) as file:
        assert count_errors(comm, lambda **kwargs: drive(file=file, comm=comm, **kwargs), valid, invalid, 0, 16) > 15
        files = {"file": [None, 1, "a", object(), HostileArgument(), np.zeros(3), plait.open]}
        assert (
            count_errors(
                comm, lambda **kwargs: drive(GSI(24, size, 5), comm=comm, **kwargs), {"file": file}, files, 1, 8
            )
            > 6
        )
        assert drive(GSI(24, size, 24), file, comm).elements == (24 if comm.rank == 0 else 0)
