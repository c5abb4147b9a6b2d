"""Jobs without MPI that lose a rank: errors on the other ranks, and the release of shared resources."""

import os
import signal
import sys
import textwrap
import time
from pathlib import Path

import jobs
import pytest

TWO_RANKS = jobs.rank_environment(0, 2), jobs.rank_environment(1, 2)
# Repeats a collective call until it fails.
WAITING = """
print("there", flush=True)
try:
    for _ in range(10**9): {}
except plait.Error as error:
    print(rank, type(error).__mro__[1].__name__, error.errno, error, round(time.time(), 2), flush=True)
"""
ENDED = "has ended during a collective call; nothing more can be done together"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "call",
    [
        "comm.barrier()",
        "comm.allgather(b'x' * 300000)",
        "plait.empty(plait.Layout((8, 8), '(block, *)', grid=(size,)), 'f8', comm=comm)",
    ],
)
def test_a_killed_rank_is_an_error_on_the_others_within_a_second(call):
    with jobs.start_by_hand(
        jobs.python_command(WAITING.format(call)), *(jobs.rank_environment(rank, 3) for rank in range(3))
    ) as ranks:
        for process in ranks:
            assert process.stdout.readline() == "there\n"
        time.sleep(0.5)
        killed = time.time()
        ranks[1].kill()
        outputs = [ranks[0].communicate(timeout=300)[0], ranks[2].communicate(timeout=300)[0]]
    for text in outputs:
        assert "rank 1 has ended" in text, text
        assert float(text.split()[-1]) - killed < 9  # 1 s on an idle machine


# As above; rank 1 makes its first call after the file GO exists, and a second call fails, too.
INTERRUPTED = """
comm.barrier()
print("there", flush=True)
while rank == 1 and not os.path.exists("GO"):
    time.sleep(0.01)
try:
    for _ in range(10**9): {}
except KeyboardInterrupt:
    print("interrupted", flush=True)
except plait.Error as error:
    print(error, flush=True)
try:
    comm.barrier()
except plait.Error as error:
    print("and then", error, flush=True)
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "call",
    [
        "comm.barrier()",
        "plait.empty(plait.Layout((8, 8), '(block, *)', grid=(size,)), 'f8', comm=comm)",
    ],
)
def test_an_interrupted_rank_is_an_error_on_the_others(call, tmp_path):
    source = INTERRUPTED.format(call).replace("GO", str(tmp_path / "go"))
    with jobs.start_by_hand(
        jobs.python_command(source), *(jobs.rank_environment(rank, 3) for rank in range(3))
    ) as ranks:
        for process in ranks:
            assert process.stdout.readline() == "there\n"
        time.sleep(0.5)
        ranks[0].send_signal(signal.SIGINT)
        assert ranks[0].stdout.readline() == "interrupted\n"  # although rank 1 has not entered the call
        second = ranks[0].stdout.readline()
        (tmp_path / "go").touch()
        outputs = jobs.wait_for_outputs(ranks[1:])
    assert "rank 0 was interrupted in a collective call; nothing more can be done together" in second
    for text in outputs:
        assert text.startswith("rank 0 was interrupted in a collective call"), outputs
        assert "and then rank 0 " in text, outputs


def test_a_rank_may_be_interrupted_at_any_time(effort):
    call = "comm.allgather(bytes(300000))"
    source = INTERRUPTED.format(call).replace("rank == 1 and", "False and")
    for delay in effort.sample((0.1, 0.17, 0.23, 0.31), 1):
        with jobs.start_by_hand(
            jobs.python_command(source), *(jobs.rank_environment(rank, 3) for rank in range(3))
        ) as ranks:
            for process in ranks:
                assert process.stdout.readline() == "there\n"
            time.sleep(delay)
            ranks[1].send_signal(signal.SIGSTOP)
            time.sleep(0.2)  # the other ranks wait for it in any phase of the call
            ranks[0].send_signal(signal.SIGINT)
            assert ranks[0].stdout.readline() == "interrupted\n"
            ranks[1].send_signal(signal.SIGCONT)
            for text in jobs.wait_for_outputs(ranks[1:]):
                assert text.startswith("rank 0 "), text


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("raise RuntimeError('no more')", "rank 1 has left the program (RuntimeError: no more)"),
        ("sys.exit(0)", "rank 1 has left the program;"),
        ("os._exit(0)", ENDED),
    ],
)
def test_an_exiting_rank_reports_why(end, message):
    source = f"""
    comm.barrier()
    if rank == 1: {end}
    time.sleep(0.5)
    try:
        comm.barrier()
    except plait.Error as error:
        print(error)
    """
    with jobs.start_by_hand(
        jobs.python_command(source), *(jobs.rank_environment(rank, 3) for rank in range(3))
    ) as ranks:
        outputs = jobs.wait_for_outputs(ranks)
    assert message in outputs[0], outputs
    assert message in outputs[2]


def test_a_rank_may_exit_after_its_last_call():
    source = """
    import signal
    if rank == 0:
        comm.barrier()  # rank 2 enters it long after rank 1 has ended
        print(comm.rank)
    elif rank == 1:
        import threading
        from plait import _core
        threading.Timer(1.0, lambda: None)
        comm.barrier()
    else:
        time.sleep(0.5)
        comm.barrier()
        time.sleep(0.5)
        print("slow", flush=True)
    """
    with jobs.start_by_hand(
        jobs.python_command(source), *(jobs.rank_environment(rank, 3) for rank in range(3))
    ) as ranks:
        assert jobs.wait_for_outputs(ranks) == ["0\n", "", "slow\n"]


def test_a_forked_child_is_not_in_the_job():
    source = """
    import os
    child = os.fork()
    if child == 0:
        for call in (comm.barrier, plait.world):
            try:
                call()
            except plait.ArgumentError as error:
                assert "belongs to process" in str(error), error
            else:
                os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    comm.barrier()
    print("well")
    """
    with jobs.start_by_hand(jobs.python_command(source), *TWO_RANKS) as ranks:
        assert jobs.wait_for_outputs(ranks) == ["well\n", "well\n"]


@pytest.mark.long
def test_a_child_forked_while_ranks_connect_is_not_in_the_job():
    source = """
    import os, sys, threading, time
    import plait
    from plait import world  # otherwise the fork might happen while another thread is importing
    def connect():
        try:
            world(timeout=3)
        except plait.Error as error:
            print(type(error).__name__, flush=True)
    thread = threading.Thread(target=connect)
    thread.start()
    time.sleep(1)
    child = os.fork()
    if child == 0:
        began = time.monotonic()
        try:
            plait.world()
        except plait.ArgumentError as error:
            os._exit(0 if "belongs to process" in str(error) and time.monotonic() - began < 1 else 1)
        os._exit(2)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    thread.join()
    """
    with jobs.start_by_hand([sys.executable, "-c", textwrap.dedent(source)], jobs.rank_environment(0, 2)) as (rank,):
        status, error = rank.communicate(timeout=300)[0].split()
    assert (status, "Error" in error) == ("0", True)


def read_shared_mappings(process):
    """Return the names in /proc of the files of shared memory that a process maps."""
    lines = Path("/proc", str(process), "maps").read_text(errors="replace").splitlines()
    files = {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6}
    return {name for name in files if name.startswith(("/dev/shm/", "/memfd:"))}


def test_a_job_leaves_no_files(meeting_folder):
    source = """
    memory = plait.empty(plait.Layout((1000, 1000), "(block, *)", grid=(size,)), "f8", comm=comm)
    comm.barrier()
    print("there", flush=True)
    time.sleep(60)
    """
    with jobs.start_by_hand(jobs.python_command(source), *TWO_RANKS) as ranks:
        for process in ranks:
            assert process.stdout.readline() == "there\n"
        shared = read_shared_mappings(ranks[0].pid) | read_shared_mappings(ranks[1].pid)
        for process in ranks:
            process.kill()
    assert shared, "the ranks share no memory, so this test would show nothing"
    assert [name for name in shared if os.path.exists(name)] == []  # files of /memfd: have no path
    assert list(meeting_folder.iterdir()) == []
