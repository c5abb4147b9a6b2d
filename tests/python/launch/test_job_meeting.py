"""Ranks without MPI connect to each other; errors if a rank is missing or exits."""

import fcntl
import os
import signal
import subprocess
import sys
import time

import jobs
import pytest

import plait

CONNECT = "import plait, sys\ntry:\n    plait.world(timeout={})\nexcept plait.Error as error:\n    sys.exit(str(error))"
TWO_RANKS = jobs.rank_environment(0, 2), jobs.rank_environment(1, 2)


def connecting_command(seconds):
    """Return the command of a rank that connects to the others within `seconds`, and prints its error."""
    return [sys.executable, "-c", CONNECT.format(seconds)]


def test_a_process_without_a_job_is_a_job_of_one_rank():
    comm = plait.world()
    assert (comm.rank, comm.size, comm.Get_rank(), comm.Get_size()) == (0, 1, 0, 1)
    comm.barrier()
    assert (comm.allgather([1]), comm.bcast("x"), repr(comm)) == ([[1]], "x", "<plait.Comm rank 0 of 1>")


def test_ranks_started_by_hand_are_connected():
    source = "comm.barrier(); print(comm.allgather((rank, 'x' * rank)), comm.bcast({1: rank}, root=2))"
    with jobs.start_by_hand(
        jobs.python_command(source), *(jobs.rank_environment(rank, 4) for rank in (3, 0, 2, 1))
    ) as ranks:
        assert jobs.wait_for_outputs(ranks) == ["[(0, ''), (1, 'x'), (2, 'xx'), (3, 'xxx')] {1: 2}\n"] * 4


@pytest.mark.long
def test_two_jobs_with_different_names_are_separate():
    settings = [jobs.rank_environment(rank, 2, name) for name in ("one", "two") for rank in range(2)]
    source = "print(os.environ['PLAIT_JOB'], comm.allgather(os.environ['PLAIT_JOB']))"
    with jobs.start_by_hand(jobs.python_command(source), *settings) as ranks:
        assert jobs.wait_for_outputs(ranks) == ["one ['one', 'one']\n"] * 2 + ["two ['two', 'two']\n"] * 2


@pytest.mark.long
def test_a_job_name_can_be_reused():
    for _ in range(3):
        with jobs.start_by_hand(jobs.python_command("print(size)"), *TWO_RANKS) as ranks:
            assert jobs.wait_for_outputs(ranks) == ["2\n", "2\n"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("size", "present", "missing"),
    [(2, [0], "rank 1"), (4, [1, 2], "ranks 0, 3"), (20, [3], "ranks 0, 1, 2, 4, 5, 6, 7, 8 and 11 more")],
)
def test_missing_ranks_are_named_after_the_timeout(size, present, missing):
    begin = time.monotonic()
    with jobs.start_by_hand(connecting_command(1.5), *(jobs.rank_environment(rank, size) for rank in present)) as ranks:
        outputs = jobs.wait_for_outputs(ranks)
    assert time.monotonic() - begin < 90  # 1.5 s on an idle machine
    for text in outputs:
        assert text.startswith(f"{missing} of the job hand ({size} ranks) ha"), text
        assert "not come within 1.5 s" in text


def test_waiting_can_be_interrupted():
    with jobs.start_by_hand(jobs.python_command(""), jobs.rank_environment(0, 2)) as (rank,):
        time.sleep(1.5)
        rank.send_signal(signal.SIGINT)
        begin = time.monotonic()
        assert "KeyboardInterrupt" in rank.communicate(timeout=300)[0]
    assert time.monotonic() - begin < 30


def test_a_rank_that_ends_before_all_have_connected_is_an_error(meeting_folder):
    with jobs.start_by_hand(connecting_command(30), jobs.rank_environment(0, 3), jobs.rank_environment(1, 3)) as ranks:
        while not (meeting_folder / "hand.plait-job").exists():
            time.sleep(0.01)
        time.sleep(1.5)  # both ranks have arrived
        ranks[1].kill()
        begin = time.monotonic()
        text = ranks[0].communicate(timeout=300)[0]
    assert text.startswith(f"rank 1 of the job hand (process {ranks[1].pid}) has ended, or given up, before all 3"), (
        text
    )
    assert time.monotonic() - begin < 12  # the rank itself would give up after 30 s


def test_different_job_sizes_are_errors():
    with jobs.start_by_hand(connecting_command(20), jobs.rank_environment(0, 3), jobs.rank_environment(1, 2)) as ranks:
        for text in jobs.wait_for_outputs(ranks):
            assert "says that it has" in text, text
            assert "give all of them the same PLAIT_SIZE" in text


def test_two_processes_with_the_same_rank_are_an_error():
    with jobs.start_by_hand(connecting_command(20), jobs.rank_environment(1, 3), jobs.rank_environment(1, 3)) as ranks:
        outputs = jobs.wait_for_outputs(ranks)
    assert outputs[0] == outputs[1]
    assert outputs[0].startswith("two processes say that they are rank 1 of the job hand: ")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"PLAIT_SIZE": "2", "PLAIT_RANK": "0"}, "PLAIT_JOB is not"),
        ({"PLAIT_SIZE": "2", "PLAIT_JOB": "a"}, "PLAIT_RANK is not"),
        ({"PLAIT_RANK": "0", "PLAIT_JOB": "a"}, "PLAIT_SIZE is not"),
        (
            {"PLAIT_SIZE": "2", "PLAIT_RANK": "2", "PLAIT_JOB": "a"},
            "PLAIT_RANK is '2', and must be a number from 0 to 1",
        ),
        ({"PLAIT_SIZE": "2", "PLAIT_RANK": "-1", "PLAIT_JOB": "a"}, "PLAIT_RANK is '-1'"),
        ({"PLAIT_SIZE": "0", "PLAIT_RANK": "0", "PLAIT_JOB": "a"}, "PLAIT_SIZE is '0'"),
        ({"PLAIT_SIZE": "2x", "PLAIT_RANK": "0", "PLAIT_JOB": "a"}, "PLAIT_SIZE is '2x'"),
        ({"PLAIT_SIZE": "99999", "PLAIT_RANK": "0", "PLAIT_JOB": "a"}, "a number from 1 to 4096"),
        ({"PLAIT_SIZE": "2", "PLAIT_RANK": "0", "PLAIT_JOB": "a/b"}, "PLAIT_JOB is 'a/b'"),
        ({"PLAIT_SIZE": "2", "PLAIT_RANK": "0", "PLAIT_JOB": ".a"}, "PLAIT_JOB is '.a'"),
        ({"PLAIT_SIZE": "2", "PLAIT_RANK": "0", "PLAIT_JOB": "a" * 250}, "at most "),
    ],
)
def test_wrong_settings_are_errors(settings, message):
    with jobs.start_by_hand(connecting_command(5), settings) as (rank,):
        text = rank.communicate(timeout=300)[0]
    assert message in text
    assert "plait run" in text


@pytest.mark.parametrize("timeout", [-1, float("nan"), "soon", None, True])
def test_wrong_timeouts_are_errors(timeout):
    with pytest.raises(plait.ArgumentError, match="timeout="):
        plait.world(timeout=timeout)


def test_a_folder_that_other_users_can_access_is_rejected(meeting_folder):
    meeting_folder.chmod(0o755)
    with jobs.start_by_hand(connecting_command(5), jobs.rank_environment(0, 2)) as (rank,):
        assert "can be seen by other users" in rank.communicate(timeout=300)[0]


def test_only_a_leftover_of_a_job_is_replaced(meeting_folder):
    leftover = meeting_folder / "hand.plait-job"
    leftover.write_text("plait-job 1")  # from a killed job, since no process holds its lock
    with jobs.start_by_hand(jobs.python_command("print(size)"), *TWO_RANKS) as ranks:
        assert jobs.wait_for_outputs(ranks) == ["2\n", "2\n"]
    leftover.write_text("something")
    with jobs.start_by_hand(connecting_command(5), jobs.rank_environment(0, 2)) as (rank,):
        assert "is there, and is not of a job" in rank.communicate(timeout=300)[0]
    assert leftover.read_text() == "something"
    leftover.unlink()


def test_a_link_in_place_of_the_usual_folder_is_rejected(tmp_path, monkeypatch):
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (tmp_path / "plait").symlink_to(real)
    monkeypatch.delenv("PLAIT_MEET")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with jobs.start_by_hand(connecting_command(5), jobs.rank_environment(0, 2)) as (rank,):
        assert "is a symbolic link" in rank.communicate(timeout=300)[0]
    monkeypatch.setenv("PLAIT_MEET", str(tmp_path / "plait"))  # a folder that the user names
    with jobs.start_by_hand(jobs.python_command("print(size)"), *TWO_RANKS) as ranks:
        assert jobs.wait_for_outputs(ranks) == ["2\n", "2\n"]
    assert list(real.iterdir()) == []


def test_a_stopped_rank_does_not_block_the_others_for_ever(meeting_folder):
    with open(meeting_folder / "hand.plait-job", "w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX, 1)  # as a process does while it looks for other ranks
        begin = time.monotonic()
        with jobs.start_by_hand(connecting_command(1), jobs.rank_environment(0, 2)) as (rank,):
            text = rank.communicate(timeout=300)[0]
    assert time.monotonic() - begin < 90
    assert f"process {os.getpid()} holds its lock, and may be stopped" in text
    (meeting_folder / "hand.plait-job").unlink()


@pytest.mark.long
@pytest.mark.parametrize(("limit", "message"), [("-Sn 60", "well"), ("-n 60", "may open 60 files, and needs 66")])
def test_the_limit_of_open_files_is_raised_or_reported(limit, message):
    source = "import resource\nprint('well' if resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 68 else 'few')"
    command = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *jobs.python_command(source)]
    with jobs.start_by_hand(command, *TWO_RANKS) as ranks:
        for text in jobs.wait_for_outputs(ranks):
            assert message in text, text


def test_an_mpi_launcher_is_not_taken_for_a_job():
    source = "from plait import _core\ntry:\n    _core.Comm.world(1.0)\nexcept ValueError as error:\n    print(error)"
    result = subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, "PMI_RANK": "1", "PMI_SIZE": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.startswith("this process is rank 1 of a job that an MPI launcher has started")
