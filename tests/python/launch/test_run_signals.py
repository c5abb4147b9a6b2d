"""Signals, descriptors and limits that `plait run` inherits from its parent."""

import fcntl
import os
import resource
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import jobs
import pytest

SLEEP = "print('there', flush=True)\ntime.sleep(60)"
WITH_THREADS = """
import sys, threading, time
for _ in range(3):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
from plait.cli import main
main(["run", *sys.argv[1:]])
"""


def start_with_threads(ranks, command, **popen_options):
    """Start `plait run` with threads that block no signal, as numerical libraries start them."""
    return subprocess.Popen(
        [sys.executable, "-c", WITH_THREADS, "-n", str(ranks), *map(str, command)],
        **{
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "text": True,
            **popen_options,
        },
    )


def wait_for_ranks(job, ranks):
    """Wait until `ranks` ranks have reported their start."""
    assert [job.stdout.readline() for _ in range(ranks)] == ["there\n"] * ranks


def read_process_state(process):
    """Return the letter that ps shows for the state of a process, such as T for stopped."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_on_other_threads_go_to_all_ranks(signal_number):
    source = f"""
    received = []
    signal.signal({int(signal_number)}, lambda *_: received.append(1))
    comm.barrier()
    print("there", flush=True)
    while not received: time.sleep(0.01)
    print("received", flush=True)
    """
    with start_with_threads(2, jobs.python_command(source)) as job:
        wait_for_ranks(job, 2)
        job.send_signal(signal_number)
        assert job.communicate(timeout=300)[0] == "received\n" * 2
    assert job.returncode == 0


def test_the_end_of_a_rank_is_noticed_on_other_threads():
    for _ in range(5):
        with start_with_threads(2, ["true"]) as job:
            assert job.communicate(timeout=300)[0] == ""
        assert job.returncode == 0


@pytest.mark.long
def test_a_stop_signal_stops_the_ranks():
    with start_with_threads(2, jobs.python_command("print(os.getpid(), flush=True)\ntime.sleep(3)")) as job:
        processes = [job.pid, *(int(job.stdout.readline()) for _ in range(2))]
        job.send_signal(signal.SIGTSTP)
        deadline = time.monotonic() + 60
        while not all(read_process_state(process) == "T" for process in processes) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert [read_process_state(process) for process in processes] == ["T"] * 3
        job.send_signal(signal.SIGCONT)
        assert job.wait(timeout=300) == 0


@pytest.mark.long
def test_a_second_interrupt_ends_ranks_that_ignore_the_first():
    source = f"""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if rank: signal.signal(signal.SIGTERM, signal.SIG_IGN)
    comm.barrier()
    {SLEEP.replace(chr(10), "; ")}
    """
    with jobs.start(2, jobs.python_command(source)) as job:
        wait_for_ranks(job, 2)
        job.send_signal(signal.SIGINT)
        time.sleep(1)
        assert job.poll() is None
        begin = time.monotonic()
        job.send_signal(signal.SIGINT)
        output = job.communicate(timeout=300)[0]
    assert 4 < time.monotonic() - begin < 50
    assert "plait: interrupted again; the ranks are ended\n" in output
    assert job.returncode in (128 + signal.SIGTERM, 128 + signal.SIGKILL)


def test_a_second_key_of_a_terminal_ends_the_ranks():
    source = f"signal.signal(signal.SIGINT, signal.SIG_IGN)\ncomm.barrier()\n{SLEEP}"
    main_end, rank_end = os.openpty()

    def take_terminal():
        """Make the pseudo-terminal the controlling one of `plait run`, so that Ctrl-C reaches its processes."""
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    with start_with_threads(2, jobs.python_command(source), stdin=rank_end, preexec_fn=take_terminal) as job:
        wait_for_ranks(job, 2)
        os.write(main_end, b"\x03")  # Ctrl-C
        time.sleep(1)
        assert job.poll() is None
        os.write(main_end, b"\x03")  # Ctrl-C
        assert job.wait(timeout=300) == 128 + signal.SIGTERM
    os.close(main_end)
    os.close(rank_end)


def test_ranks_handle_sigchld_even_if_the_parent_ignores_it():
    def ignore_sigchld():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    source = "print(signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL)\nsys.exit(3 * rank)"
    status, output = jobs.run(2, jobs.python_command(source), preexec_fn=ignore_sigchld)
    assert (status, output.count("True\n"), "Traceback" in output) == (3, 2, False), output


def test_signals_that_the_parent_ignores_stay_ignored():
    def ignore_sighup():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    source = "print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    assert jobs.run(1, jobs.python_command(source), preexec_fn=ignore_sighup) == (0, "True set()\n")


@pytest.mark.long
def test_labelled_output_to_a_nonblocking_pipe_is_complete():
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETFL, os.O_NONBLOCK)
    source = "for line in range(5000): print(line, 'x' * 50)"
    with start_with_threads(2, ["--label", *jobs.python_command(source)], stdout=write_end, stderr=None) as job:
        os.close(write_end)
        time.sleep(2)  # the pipe is full
        with os.fdopen(read_end) as output:
            lines = output.readlines()
    assert (job.returncode, len(lines)) == (0, 10000)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("hard_limit", "status"), [(4096, 0), (128, 2)])
def test_the_limit_of_open_files_is_raised_if_the_hard_limit_allows_it(hard_limit, status):
    def limit_open_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard_limit))

    with start_with_threads(50, ["--label", "true"], preexec_fn=limit_open_files) as job:
        output = job.communicate(timeout=300)[0]
    assert job.returncode == status
    assert ("have the limit raised (ulimit -n)" in output) == (status != 0), output
