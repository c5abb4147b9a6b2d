"""Recording does not change the actions of programs, even if they jump, end or restrict themselves in unusual ways."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import RecordedRun, compile_program, record

from plait.trace import Interface, Kind

NOT_RECORDED = "calls that could not be decoded, or came while another was being kept"


def record_or_skip(folder: Path, *command: str | Path) -> RecordedRun:
    recorded = record(folder, *command)
    if recorded.status == 77:
        pytest.skip("the system refuses")
    assert recorded.status == 0
    return recorded


def test_a_program_that_restricts_its_system_calls(tmp_path: Path) -> None:
    recorded = record_or_skip(tmp_path, compile_program(tmp_path, "sandbox.c"))
    assert list(recorded.select("passwd", Kind.READ)["result"]) == [8]
    assert recorded.missed() == {NOT_RECORDED: (1, 0, 0)}
    assert recorded.description.complete


def test_a_program_that_may_not_read_the_counter_of_the_clock(tmp_path: Path) -> None:
    recorded = record_or_skip(tmp_path, compile_program(tmp_path, "no_counter.c"))
    assert list(recorded.select("passwd", Kind.READ)["result"]) == [8]
    assert recorded.missed() == {NOT_RECORDED: (1, 0, 0)}
    assert recorded.description.complete


def test_a_program_that_may_not_create_code(tmp_path: Path) -> None:
    recorded = record_or_skip(tmp_path, compile_program(tmp_path, "no_new_code.c"), "cat", "/etc/passwd")
    assert recorded.select("passwd", Kind.READ)["result"].sum() == Path("/etc/passwd").stat().st_size


def test_handlers_that_jump_out(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(1000))
    recorded = record_or_skip(tmp_path, compile_program(tmp_path, "jumps.c"), tmp_path / "data")
    # After a jump, a call may still be marked as being recorded, or a part of the trace as in use; then later calls are
    # counted instead of recorded.
    missed = sum(events for events, _, _ in recorded.missed().values())
    reads = recorded.kind(Kind.READ)
    offsets = list(reads[reads["result"] == 16]["offset"])
    assert offsets == [16 * i for i in range(10)][10 - len(offsets) :]
    assert len(offsets) + missed >= 10
    assert len(recorded.select("/etc/hosts", Kind.OPEN)) + missed >= 100


def test_handlers_that_end_a_program_with_a_ring(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(1000))
    recorded = record_or_skip(tmp_path, compile_program(tmp_path, "ring_exit.c", "-luring"), tmp_path / "data")
    assert len(recorded.kind(Kind.EXIT)) + recorded.missed().get(NOT_RECORDED, (0,))[0] >= 16


def test_liburing_that_a_program_loads_privately(tmp_path: Path) -> None:
    library = compile_program(tmp_path, "plugin.c", "-shared", "-fPIC", "-luring")
    library = library.rename(tmp_path / "plugin.so")
    record_or_skip(tmp_path, compile_program(tmp_path, "plugin.c", "-DMAIN", "-ldl"), library)


def test_requests_of_a_ring_that_are_not_plain(tmp_path: Path) -> None:
    recorded = record_or_skip(tmp_path, compile_program(tmp_path, "ring_kinds.c", "-luring"), tmp_path / "data")
    events = recorded.events[recorded.events["interface"] == Interface.URING]
    assert [(Kind(event["kind"]), event["offset"], event["length"], event["result"]) for event in events] == [
        (Kind.WRITE, -1, 5, 5),
        (Kind.READ, -1, 16, 5),
        (Kind.WRITE, -1, 7, 7),
        (Kind.METADATA, 0, 4096, 0),
    ]
    assert recorded.missed() == {NOT_RECORDED: (1, 0, 0)}


@pytest.mark.parametrize("way", ["clone", "syscall", "forkpty", "message"])
def test_positions_that_other_processes_share(tmp_path: Path, way: str) -> None:
    (tmp_path / "data").write_bytes(bytes(2000))
    recorded = record_or_skip(tmp_path, compile_program(tmp_path, "passed.c", "-lutil"), way, tmp_path / "data")
    reads = recorded.select("data", Kind.READ)
    assert {(int(event["length"]), int(event["offset"])) for event in reads} == {(1000, 0), (500, 1000)}
