"""Invalid arguments of the primitives of 1993: the same status and message on all ranks, and no rank hangs."""

import random

import numpy as np
import pytest
from primitives import (
    BLOCK,
    LIBRARY,
    NEW,
    OK,
    OLD,
    SEQUENTIAL,
    array_map,
    check,
    last_message,
    pclose_all,
    popen,
    pread,
    proc_map,
    pwrite,
)

NUMBERS = [-1, -7, 8, 1000, 2**31 - 1, -(2**31)]
LONGS = [-2, -(2**63), 2**63 - 1, 2**62, 7]
NAMES = ["", "\udcff", "x" * 5000, "no:way", "s3://b/a", "%s%n", "/none/at/all"]


@pytest.fixture(autouse=True)
def _units():
    yield
    pclose_all()


def count_failures(comm, call, valid, invalid, seed):
    """Replace one argument at a time by an invalid value, on one rank or on all.

    Checks that each call has the same status and message on all ranks, and returns how many calls failed.
    """
    random_source = random.Random(seed)
    failures = 0
    for name, values in invalid.items():
        for value in values:
            is_replaced = random_source.choice([True, False]) | (random_source.randrange(comm.size) == comm.rank)
            status = call(**{**valid, name: value} if is_replaced else valid)
            outcome = (status, "" if status == OK else last_message())
            outcomes = comm.allgather(outcome)
            assert all(other == outcomes[0] for other in outcomes), (name, value, outcomes)
            assert status == OK or (outcome[1] and "std::" not in outcome[1]), (name, value, outcome)
            failures += status != OK
    assert comm.allgather(call(**valid)) == [OK] * comm.size, last_message()
    return failures


def test_opening(comm, shared):
    def call(unit, path, access, form, status, processors):
        status_of_call = popen(unit, str(path), access, status, None, processors, form)
        if status_of_call == OK:
            check(LIBRARY.plait_pclose(unit))
        return status_of_call

    if comm.rank == 0:
        (shared / "a").write_bytes(bytes(16))
    comm.Barrier()
    valid = {"unit": 3, "path": f"raw:{shared}/a", "access": SEQUENTIAL, "form": 0, "status": OLD, "processors": -1}
    invalid = {"path": NAMES[:1] + NAMES[2:], **dict.fromkeys(("access", "form", "status", "processors"), NUMBERS)}
    assert count_failures(comm, call, valid, invalid, 0) > 8


def test_reading_and_writing(comm, shared):
    check(proc_map((comm.size,)))
    vector = array_map((2 * comm.size,), (BLOCK,), (-1,), (comm.size,))
    local_array = np.zeros(2, "i4")
    check(popen(3, f"raw:{shared}/a", SEQUENTIAL, NEW))
    check(pwrite(local_array, (2, 1), vector, 3))
    check(LIBRARY.plait_pclose(3))
    check(popen(3, f"raw:{shared}/a", SEQUENTIAL, OLD))

    def call(rows, columns, descriptor, unit, io_size):
        status_of_call = pread(local_array, (rows, columns), descriptor, unit, io_size)
        if status_of_call == OK:  # reopen the file, so that the next call begins at its start
            check(LIBRARY.plait_pclose(3))
            check(popen(3, f"raw:{shared}/a", SEQUENTIAL, OLD))
        return status_of_call

    valid = {"rows": 2, "columns": 1, "descriptor": vector, "unit": 3, "io_size": -1}
    invalid = {"rows": LONGS, "columns": LONGS, "descriptor": NUMBERS, "io_size": LONGS}
    assert count_failures(comm, call, valid, invalid, 1) > 10


def test_describing(comm):
    """array_map, which is not collective, returns a descriptor or sets a message."""
    check(proc_map((comm.size,)))
    for name, values in {"size": LONGS, "codes": NUMBERS, "blocks": LONGS, "grid": NUMBERS}.items():
        for value in values:
            valid = {"size": (4,), "codes": (BLOCK,), "blocks": (-1,), "grid": (comm.size,)}
            if array_map(**{**valid, name: (value,)}) < 1:
                assert last_message()
                assert "std::" not in last_message()
    for value in (number for number in NUMBERS if number != 8):  # descriptor 8 exists by now
        assert LIBRARY.plait_array_type(value, b"INTEGER*4") != OK
        assert LIBRARY.plait_pclose(value) != OK
    descriptor = array_map((4,), (BLOCK,), (-1,), (comm.size,))
    for text in (b"", b"\xff", b"no type", b"INTEGER*0", b"INTEGER*", b"x" * 5000):
        assert LIBRARY.plait_array_type(descriptor, text) != OK
    assert proc_map((comm.size,), mode=7) != OK
