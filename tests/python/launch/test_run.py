"""`plait run`: the processes that it starts, the signals and settings that it passes on, and its exit status."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import jobs
import pytest
from click.testing import CliRunner

from plait.cli import main

SLEEP = "print('there', flush=True)\ntime.sleep(60)"


def wait_for_ranks(job, ranks):
    """Wait until `ranks` ranks have reported their start."""
    assert [job.stdout.readline() for _ in range(ranks)] == ["there\n"] * ranks


def has_ended(process):
    """Return True if a process has ended, even if no process has waited for it yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_ranks_know_their_rank_and_the_size(ranks):
    output = jobs.check_output(ranks, "print(rank, size, os.environ['PLAIT_RANK'], os.environ['PLAIT_SIZE'])")
    assert sorted(output.splitlines()) == [f"{rank} {ranks} {rank} {ranks}" for rank in range(ranks)]


def test_the_default_is_one_rank_per_core():
    status, output = jobs.run(None, ["sh", "-c", "echo rank $PLAIT_RANK"])
    assert (status, len(output.splitlines())) == (0, len(os.sched_getaffinity(0)))


def test_a_program_may_ignore_its_job():
    assert jobs.run(3, ["true"]) == (0, "")


def test_options_of_the_program_are_passed_on():
    status, output = jobs.run(1, ["echo", "-n", "3", "--label"])
    assert (status, output) == (0, "3 --label")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("failing_rank", [0, 1, 2])
def test_the_status_is_that_of_the_rank_that_fails(failing_rank):
    begin = time.monotonic()
    status, output = jobs.run(
        3, jobs.python_command(f"comm.barrier()\nif rank == {failing_rank}: sys.exit(7)\ntime.sleep(60)")
    )
    assert (status, time.monotonic() - begin < 50) == (7, True), output
    assert f"plait: rank {failing_rank} (process " in output
    assert "ended with status 7; the other ranks are ended\n" in output


def test_a_signal_that_ends_a_rank_is_in_the_status():
    status, output = jobs.run(
        2, jobs.python_command("if rank == 1: os.kill(os.getpid(), signal.SIGKILL)\ntime.sleep(60)")
    )
    assert status == 128 + signal.SIGKILL
    assert "was ended by SIGKILL" in output


@pytest.mark.long
def test_ranks_that_ignore_the_request_are_ended():
    begin = time.monotonic()
    source = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ncomm.barrier()\nif rank: sys.exit(3)\ntime.sleep(60)"
    status, _ = jobs.run(2, jobs.python_command(source))
    assert status == 3
    assert 4 < time.monotonic() - begin < 50


def test_child_processes_end_with_their_ranks():
    source = """
    import subprocess
    child = subprocess.Popen(["sleep", "60"])
    print(child.pid, flush=True)
    comm.barrier()
    if rank: os._exit(2)
    time.sleep(60)
    """
    status, output = jobs.run(2, jobs.python_command(source))
    assert status == 2
    children = [int(line) for line in output.splitlines() if line.isdigit()]
    assert len(children) == 2
    deadline = time.monotonic() + 40
    while not all(map(has_ended, children)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert all(map(has_ended, children))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_signals_go_to_all_ranks(signal_number):
    source = f"""
    received = []
    signal.signal({int(signal_number)}, lambda *_: received.append(1))
    comm.barrier()
    print("there", flush=True)
    while not received: time.sleep(0.01)
    print("received", flush=True)
    """
    with jobs.start(3, jobs.python_command(source)) as job:
        wait_for_ranks(job, 3)
        job.send_signal(signal_number)
        assert job.communicate(timeout=300)[0] == "received\n" * 3
    assert job.returncode == 0


def test_keys_of_a_terminal_reach_each_rank_once():
    source = """
    received = []
    signal.signal(signal.SIGINT, lambda *_: received.append(1))
    comm.barrier()
    print("there", flush=True)
    while not received: time.sleep(0.01)
    time.sleep(1)
    print("keys", len(received), sys.stdin.readline().strip() if rank == 0 else "none", flush=True)
    """
    main_end, rank_end = os.openpty()
    command = [*jobs.PLAIT, "run", "-n", "3", *jobs.python_command(source)]

    def take_terminal():
        """Make the pseudo-terminal the controlling one of `plait run`, so that Ctrl-C reaches its processes."""
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    with subprocess.Popen(
        command, stdin=rank_end, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=take_terminal
    ) as job:
        wait_for_ranks(job, 3)
        os.write(main_end, b"\x03")  # Ctrl-C
        time.sleep(0.5)
        os.write(main_end, b"typed\n")
        output = job.communicate(timeout=300)[0]
    os.close(main_end)
    os.close(rank_end)
    assert sorted(output.splitlines()) == ["keys 1 none", "keys 1 none", "keys 1 typed"]
    assert job.returncode == 0


@pytest.mark.long
def test_a_signal_that_ends_the_ranks_is_the_status():
    with jobs.start(2, jobs.python_command(SLEEP)) as job:
        wait_for_ranks(job, 2)
        job.send_signal(signal.SIGTERM)
        assert job.wait(timeout=300) == 128 + signal.SIGTERM


def test_ranks_end_when_the_run_is_killed():
    with jobs.start(2, jobs.python_command("print(os.getpid(), flush=True)\ntime.sleep(60)")) as job:
        ranks = [int(job.stdout.readline()) for _ in range(2)]
        job.kill()
        job.wait()
        deadline = time.monotonic() + 40
        while not all(map(has_ended, ranks)) and time.monotonic() < deadline:
            time.sleep(0.02)
    assert all(map(has_ended, ranks))


def test_rank_0_has_the_standard_input():
    status, output = jobs.run(3, jobs.python_command("print(rank, sys.stdin.read().strip())"), input="some words\n")
    assert status == 0
    assert sorted(output.splitlines()) == ["0 some words", "1 ", "2 "]


def test_labels_precede_each_line():
    source = "print('one'); print('two', end='', flush=True); print('three', file=sys.stderr, end='')"
    status, output = jobs.run(2, jobs.python_command(source), "--label")
    assert status == 0
    assert sorted(output.splitlines()) == [f"[{rank}] {word}" for rank in range(2) for word in ("one", "three", "two")]


def test_a_closed_output_ends_a_labelled_job():
    command = [*jobs.PLAIT, "run", "-n", "2", "-l", "yes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as job:
        assert job.stdout.readline() in (b"[0] y\n", b"[1] y\n")
        job.stdout.close()
        assert job.wait(timeout=300) == 128 + signal.SIGPIPE


def test_a_program_that_cannot_be_started_is_reported(tmp_path):
    assert jobs.run(2, ["./missing"]) == (127, "plait: ./missing: No such file or directory\n")
    plain = tmp_path / "plain"
    plain.write_text("")
    assert jobs.run(2, [str(plain)]) == (126, f"plait: {plain}: Permission denied\n")


@pytest.mark.parametrize("arguments", [["-n", "0", "true"], ["-n", "many", "true"], ["-n", "2"], ["--wrong", "true"]])
def test_wrong_options_are_errors_of_usage(arguments):
    result = CliRunner().invoke(main, ["run", *arguments])
    assert (result.exit_code, "Usage:" in result.output) == (2, True)


def test_help_has_examples():
    result = CliRunner().invoke(main, ["run", "--help"])
    assert (result.exit_code, "plait run -n 4 python simulate.py" in result.output) == (0, True)


def test_a_run_removes_leftovers_of_a_killed_job(meeting_folder):
    with jobs.start_by_hand(jobs.python_command(""), jobs.rank_environment(0, 2, "killed")) as (rank,):
        while not any(meeting_folder.iterdir()):
            time.sleep(0.01)
        rank.kill()
        rank.wait()
    assert [path.name for path in meeting_folder.iterdir()] == ["killed.plait-job"]
    assert jobs.run(1, ["true"])[0] == 0
    assert list(meeting_folder.iterdir()) == []


@pytest.mark.long
def test_a_run_leaves_a_connecting_job_alone(meeting_folder):
    with jobs.start_by_hand(
        jobs.python_command("print(size)"), jobs.rank_environment(0, 2), jobs.rank_environment(1, 2)
    ) as ranks:
        os.kill(ranks[1].pid, signal.SIGSTOP)
        while not any(meeting_folder.iterdir()):
            time.sleep(0.01)
        assert jobs.run(1, ["true"])[0] == 0
        os.kill(ranks[1].pid, signal.SIGCONT)
        assert [process.communicate(timeout=300)[0] for process in ranks] == ["2\n", "2\n"]


@pytest.mark.long
def test_a_run_inside_a_run_has_its_own_ranks():
    command = [*jobs.PLAIT, "run", "-n", "2", *jobs.python_command("print(rank, size)")]
    status, output = jobs.run(2, command)
    assert (status, sorted(output.splitlines())) == (0, ["0 2", "0 2", "1 2", "1 2"])


@pytest.mark.long
def test_copy_works_as_a_rank(tmp_path):
    import numpy as np

    np.save(tmp_path / "from.npy", np.arange(1000.0).reshape(50, 20))
    command = [*jobs.PLAIT, "copy", str(tmp_path / "from.npy"), str(tmp_path / "to.npy")]
    status, output = jobs.run(3, command)
    assert (status, "by 3 ranks" in output, output.count("\n")) == (0, True, 1), output
    assert (np.load(tmp_path / "to.npy") == np.arange(1000.0).reshape(50, 20)).all()


def test_completion_knows_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "plait.cli"],
        env={**os.environ, "_PLAIT_COMPLETE": "bash_complete", "COMP_WORDS": "plait ru", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "plain,run" in result.stdout
