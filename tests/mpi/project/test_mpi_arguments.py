"""Arguments that nobody should pass, on one rank or on all: the same plait.Error everywhere, and nobody waits for ever.

The names of the calls and the values are drawn from a seed that all ranks share.  The other ranks end a
job in which a rank hangs (see tests/mpi/ranks.py).
"""

import random

import numpy as np
import pytest
from same import error_everywhere, told

import plait
import plait.distant
import plait.shared
from plait.patterns import GSI, drive

SHAPE = (6, 4)


class HostileArgument:
    """Raises whatever is asked of it."""

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


def rows(comm):
    return plait.Layout(SHAPE, "(balanced, *)", grid=(comm.size,))


def outcome(comm, call):
    """What all ranks get: one and the same error, or none of them has any."""
    everyone = comm.allgather(told(call))
    assert all(theirs == everyone[0] for theirs in everyone), everyone
    return everyone[0]


def cases(draw, good, bad, count):
    """Some of the values of each argument that are wrong, each with who passes it."""
    for name, values in bad.items():
        for value in draw.sample(values, min(count, len(values))):
            yield name, value, draw.choice(["one", "all"])


def tried(comm, call, good, bad, seed, count=4):
    """Tries a call with one wrong argument at a time; returns how many were errors."""
    draw = random.Random(seed)
    found = 0
    for name, value, who in cases(draw, good, bad, count):
        victim = draw.randrange(comm.size)
        wrong = who == "all" or comm.rank == victim
        error = outcome(comm, lambda: call(**{**good, name: value} if wrong else good))  # noqa: B023
        assert error is None or "std::" not in error[1], error
        found += error is not None
    return found


@pytest.fixture
def path(comm, shared):
    name = shared / "a.npy"
    if comm.rank == 0:
        np.save(name, np.arange(24.0).reshape(SHAPE))
    return name


@pytest.mark.parametrize("seed", range(2))
def test_opening(comm, path, seed):
    bad = {
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
    good = {"url": path, "mode": "r", "shape": SHAPE, "dtype": "f8", "order": "C", "offset": 0, "memory": 0,
            "strategy": None, "readers": 0}  # fmt: skip

    def call(**arguments):
        plait.open(arguments.pop("url"), arguments.pop("mode"), comm=comm, **arguments).close()

    assert tried(comm, call, good, bad, seed) > 20


@pytest.mark.parametrize("seed", range(2))
def test_accesses(comm, path, seed):
    layout = rows(comm)
    bad = {"layout": LAYOUTS, "out": ARRAYS, "region": REGIONS, "fill_halo": FLAGS}
    with plait.open(path, "r+", comm=comm) as file:
        good = {"layout": layout, "out": None, "region": None, "fill_halo": False}
        assert tried(comm, file.read, good, bad, seed) > 10
        assert tried(comm, lambda **given: file.iread(**given).wait(), good, bad, seed) > 10
        own = file.read(layout)
        good = {"array": own, "layout": layout, "region": None}
        bad = {"layout": LAYOUTS, "array": ARRAYS, "region": REGIONS}
        assert tried(comm, file.write, good, bad, seed) > 8
        assert tried(comm, lambda **given: file.iwrite(**given).wait(), good, bad, seed) > 8
        np.testing.assert_array_equal(file.read(layout), own)


def test_a_step_that_is_longer_than_any_array(comm, path):
    one = plait.Layout((1, 4), "(*, *)", grid=())
    with plait.open(path, comm=comm) as file:
        part = file.read(one, region=np.s_[0 : 1 : 10**30])
        assert part is None or part.tolist() == [[0, 1, 2, 3]]


def test_streams(comm, path):
    with plait.open(path, "r+", comm=comm) as file:
        assert tried(comm, file.stream, {"mode": 2}, {"mode": NUMBERS}, 0, 16) > 10
        stream = file.stream(4)
        good = {"count": 3, "out": None}
        assert tried(comm, stream.read, good, {"count": NUMBERS, "out": ARRAYS}, 1, 16) > 15
        assert tried(comm, lambda **given: stream.iread(**given).wait(), good, {"count": NUMBERS}, 2, 16) > 10
        assert tried(comm, stream.seek, {"element": 0}, {"element": NUMBERS}, 3, 16) > 10
        assert tried(comm, stream.write, {"array": np.zeros(2)}, {"array": ARRAYS}, 4, 16) > 5
        stream.seek(0)
        assert stream.read(1).size == 1


def test_redistributions(comm):
    src, dst = rows(comm), plait.Layout(SHAPE, "(*, balanced)", grid=(comm.size,))
    own = np.zeros(src.padded_shape(comm.rank))
    good = {"array": own, "src": src, "dst": dst, "out": None, "memory": None, "fill_halo": False,
            "source_region": None, "target_region": None}  # fmt: skip
    bad = {"array": ARRAYS, "src": LAYOUTS, "dst": LAYOUTS, "out": ARRAYS, "memory": NUMBERS, "fill_halo": FLAGS,
           "source_region": REGIONS, "target_region": REGIONS}  # fmt: skip
    assert tried(comm, lambda **given: plait.redistribute(comm=comm, **given), good, bad, 0, 5) > 20
    assert tried(comm, lambda **given: plait.iredistribute(comm=comm, **given).wait(), good, bad, 1, 3) > 12
    plan = {"src": src, "dst": dst, "dtype": "f8", "memory": None, "fill_halo": False}
    bad = {"src": LAYOUTS, "dst": LAYOUTS, "dtype": DTYPES, "memory": NUMBERS, "fill_halo": FLAGS}
    assert tried(comm, lambda **given: plait.Redistribution(comm=comm, **given).close(), plan, bad, 2, 5) > 15
    bad = {"layout": LAYOUTS, "dtype": DTYPES}
    assert tried(comm, lambda **given: plait.empty(comm=comm, **given), {"layout": src, "dtype": "f8"}, bad, 3, 8) > 8
    with plait.Redistribution(src, dst, "f8", comm) as made:
        bad = {"array": ARRAYS, "out": ARRAYS}
        mine = {"array": own, "out": np.zeros(dst.padded_shape(comm.rank))}
        assert tried(comm, made.run, mine, bad, 4, 8) > 8


@pytest.mark.several_ranks
def test_a_plan_that_one_rank_has_closed(comm):
    made = plait.Redistribution(rows(comm), rows(comm), "f8", comm)
    if comm.rank == 1:
        made.close()
    error_everywhere(comm, made.run, plait.ArgumentError)
    made.close()


def test_copies(comm, path, shared):
    good = {"source": path, "target": shared / "b.npy", "shape": None, "dtype": None, "offset": 0, "layout": None,
            "memory": 1 << 20}  # fmt: skip
    bad = {"source": TEXTS, "target": TEXTS, "shape": NUMBERS[:6], "dtype": DTYPES, "offset": NUMBERS,
           "layout": TEXTS[1:9], "memory": NUMBERS}  # fmt: skip
    assert tried(comm, lambda **given: plait.copy(comm=comm, **given), good, bad, 0, 3) > 8


def test_distant_and_shared_files(comm, disk):
    good = {"path": disk / f"d-{comm.rank}", "mode": "w", "temporary": True}
    bad = {"path": TEXTS[1:9], "mode": TEXTS, "temporary": FLAGS}

    def distant(**given):
        plait.distant.open(comm=comm, **given).close()

    assert tried(comm, distant, good, bad, 0, 3) > 5

    def shared_file(**given):
        plait.shared.open(comm=comm, **given).close()

    good = {"path": disk / "s", "mode": "w", "persistent": False, "atomic": False, "unit": None, "limit": None,
            "expected": None, "request": None, "place": "one"}  # fmt: skip
    bad = {"path": TEXTS[:9], "mode": TEXTS, "persistent": FLAGS, "atomic": FLAGS, "unit": NUMBERS[:6],
           "limit": NUMBERS[:6], "expected": NUMBERS[:6], "request": NUMBERS[:6], "place": TEXTS}  # fmt: skip
    assert tried(comm, shared_file, good, bad, 1, 3) > 12
    with plait.shared.open(disk / "s", "w", comm=comm) as file:  # hosts may see no folder together
        assert tried(comm, file.resize, {"size": 8}, {"size": NUMBERS}, 2, 8) > 6


def test_accesses_of_distant_and_shared_files(comm, disk):
    own = np.zeros(8, "u1")
    good = {"offset": 0, "array": own, "rank": comm.rank}
    bad = {"offset": NUMBERS, "array": [*ARRAYS[:6], -1, 2**70], "rank": NUMBERS}

    def refused(function, good, bad, seed):
        draw = random.Random(seed)
        for name, value, _ in cases(draw, good, bad, 6):
            try:
                function(*{**good, name: value}.values())
            except plait.Error:
                continue
            except Exception as error:
                raise AssertionError((function, name, value)) from error

    with plait.distant.open(disk / f"d-{comm.rank}", "w", comm=comm, temporary=True) as file:
        file.write(0, own, comm.rank)
        refused(file.read, good, bad, 0)
        refused(file.write, good, {**bad, "offset": NUMBERS[4:]}, 1)
        refused(lambda *given: file.iread(*given).wait(), good, bad, 2)
        refused(lambda *given: file.iwrite(*given).wait(), good, {**bad, "offset": NUMBERS[4:]}, 3)
        for call in (file.size, file.sync, file.direct):
            refused(call, {"rank": comm.rank}, {"rank": NUMBERS}, 4)
        refused(file.resize, {"size": 8, "rank": comm.rank}, {"size": NUMBERS, "rank": NUMBERS}, 5)
    good, bad = {"offset": 0, "array": own}, {"offset": NUMBERS[4:], "array": bad["array"]}
    with plait.shared.open(disk / "t", "w", comm=comm) as file:
        for call in (file.read, file.write):
            refused(call, good, bad, 6)
        for call in (file.iread, file.iwrite):
            refused(lambda *given, call=call: call(*given).wait(), good, bad, 7)
        refused(file.home, {"component": 0}, {"component": NUMBERS}, 8)


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
    layout = rows(comm)
    own = np.zeros(layout.padded_shape(comm.rank))
    numbers = iter(range(10**6))  # of the arrays, which are new each time
    with plait.open("pipe:steps?readers=0&drop=oldest", "w", comm=comm, shape=SHAPE, dtype="f8") as file:

        def begin(attributes):
            file.begin_step(attributes)
            file.end_step()

        assert tried(comm, begin, {"attributes": {"a": 1}}, {"attributes": ATTRIBUTES}, 0, 20) > 10

        def define(variable, shape, dtype):
            fresh = f"array {next(numbers)}"
            name = fresh if isinstance(variable, str) and variable == "new" else variable
            file.define(name, shape, dtype)
            file.write(own, layout, variable=name)

        file.begin_step()
        good = {"variable": "new", "shape": SHAPE, "dtype": "f8"}
        bad = {"variable": NAMES, "shape": [*NUMBERS[:10], (6, 2**70), (6, "a"), (-1, 4)], "dtype": DTYPES}
        assert tried(comm, define, good, bad, 1, 8) > 15
        good = {"array": own, "variable": "data"}
        assert tried(comm, lambda **given: file.write(layout=layout, **given), good, {"variable": NAMES}, 2, 10) > 6
        outcome(comm, file.end_step)  # which is discarded where a write to it has failed
        file.begin_step()
        file.write(own, layout)
        file.end_step()


def refused(call, good, bad, seed, count=8):
    """Tries a call that is not collective with one wrong argument at a time; returns how many were errors."""
    draw = random.Random(seed)
    found = 0
    for name, value, _ in cases(draw, good, bad, count):
        error = told(lambda: call(**{**good, name: value}))  # noqa: B023
        assert error is None or (error[1] and "std::" not in error[1]), error
        found += error is not None
    assert told(lambda: call(**good)) is None
    return found


def test_questions(comm, path, meeting):
    good = {"layout": rows(comm), "region": None, "write": False, "fill_halo": False}
    bad = {"layout": LAYOUTS, "region": REGIONS, "write": FLAGS, "fill_halo": FLAGS}
    with plait.open(path, comm=comm) as file:
        assert refused(file.explain, good, bad, 0) > 10
    with plait.open("pipe:questions?readers=0", "w", comm=comm, shape=SHAPE, dtype="f8"):
        assert (
            refused(
                plait.pipe_status, {"url": "pipe:questions?timeout=5"}, {"url": [*TEXTS, "pipe:", "pipe:no"]}, 1, 20
            )
            > 8
        )
        comm.Barrier()
    timeouts = [one for one in NUMBERS if not isinstance(one, int) or one < 0] + [float("nan"), True]
    assert refused(lambda timeout: plait.world(timeout).rank, {"timeout": 1}, {"timeout": timeouts}, 2, 20) > 5


def test_offers(comm, disk):
    with plait.distant.open(disk / f"d-{comm.rank}", "w", comm=comm, temporary=True):
        names = iter(range(10**6))

        def offer(name, path, mode, temporary):
            fresh = f"{comm.rank}-{next(names)}" if isinstance(name, str) and name == "new" else name
            plait.distant.offer(fresh, path, mode, comm=comm, temporary=temporary).close()

        good = {"name": "new", "path": disk / f"o-{comm.rank}", "mode": "w", "temporary": True}
        bad = {"name": TEXTS, "path": TEXTS[:9], "mode": TEXTS, "temporary": FLAGS}
        assert refused(offer, good, bad, 0) > 15
        own = plait.distant.offer(f"own {comm.rank}", disk / f"o-{comm.rank}", "w", comm=comm, temporary=True)
        good = {"name": f"own {comm.rank}"}
        assert (
            refused(lambda name: plait.distant.find(name, comm=comm).close(), good, {"name": [*TEXTS, "no"]}, 1, 20) > 8
        )
        own.close()


def test_patterns(comm, path):
    size = comm.size
    good = {"pattern": GSI(24, size, 5), "mode": None, "fill": None}
    bad = {"pattern": [*LAYOUTS[:4], GSI(24, size + 1, 5), GSI(23, size, 5), GSI(24, size, 5, kind="write"), GSI],
           "mode": [*NUMBERS, 4, lambda: 1]}  # fmt: skip
    with plait.open(path, comm=comm) as file:
        assert tried(comm, lambda **given: drive(file=file, comm=comm, **given), good, bad, 0, 16) > 15
        files = {"file": [None, 1, "a", object(), HostileArgument(), np.zeros(3), plait.open]}
        assert tried(comm, lambda **given: drive(GSI(24, size, 5), comm=comm, **given), {"file": file}, files, 1, 8) > 6
        assert drive(GSI(24, size, 24), file, comm).elements == (24 if comm.rank == 0 else 0)
