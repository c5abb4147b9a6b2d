"""Pipes between programs that are separate MPI jobs, and their state after a rank fails.

tests/stress/pipe_storm.py starts the programs, which check every byte; these tests check every error.
"""

import sys
from pathlib import Path

import pytest
from launching import needs_mpi

sys.path.append(str(Path(__file__).parents[2] / "stress"))
from pipe_plan import Fault, Program, draw_round
from pipe_storm import Run, execute

pytestmark = needs_mpi
WITHOUT_MPI = Program(3, alone=True)


def run_programs(programs, rounds, seed=1, **options):
    """Return the output of the processes of a successful run."""
    run = Run(
        seed,
        programs=[program if isinstance(program, Program) else Program(program) for program in programs],
        rounds=rounds,
    )
    for name, value in options.items():
        setattr(run, name, value)
    succeeded, message, reports = execute(run, 300)
    assert succeeded, f"{run}\n{message}"
    return reports


def collect_errors(reports):
    """Return the first error of each process that reports one, by `PROGRAM-RANK`."""
    return {name.removeprefix("done-"): report["errors"][0] for name, report in reports.items() if report["errors"]}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "programs",
    [(1, 4), (4, 3), (WITHOUT_MPI, 2), (2, 3, 1, WITHOUT_MPI)],
    ids=["1 to 4", "4 to 3", "3 without MPI to 2", "2 to 3, 1, and 3 without MPI"],
)
def test_any_numbers_of_ranks_and_readers_work(programs):
    reports = run_programs(programs, 4, seed=len(programs))
    assert sum(report["checked"] for report in reports.values()) > 0


@pytest.mark.long
def test_programs_of_one_job_can_use_a_pipe():
    run_programs((2, 1), 3, together=True)


@pytest.mark.long
def test_readers_can_come_late_and_leave_early():
    programs = [Program(1), Program(1), Program(2), Program(1)]
    seed = next(
        seed
        for seed in range(1000)
        if (habits := draw_round(seed, 0, programs, Fault()).habits) and habits[2].late and habits[3].leaves >= 0
    )
    run_programs(programs, 1, seed=seed)


@pytest.mark.long
@pytest.mark.parametrize(("program", "rank"), [(0, 1), (1, 0)])
def test_an_exception_on_one_rank_reaches_all_ranks_of_both_programs(program, rank):
    """The same programs can open pipes afterwards."""
    errors = collect_errors(run_programs((2, 2), 2, fault=Fault("raise", program, rank, 0, 0)))
    assert errors.pop(f"{program}-{rank}")["text"] == "the model blew up"
    other_texts = {error["text"] for name, error in errors.items() if not name.startswith(str(program))}
    assert len(errors) == 3
    assert len(other_texts) == 1
    assert ("has given up" if program == 0 else "the reader python") in other_texts.pop()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("program", "rank", "outlive"), [(0, 0, True), (0, 1, False), (1, 0, False), (1, 1, True), (0, 1, True)]
)
def test_a_killed_rank_is_an_error_on_all_ranks(program, rank, outlive):
    reports = run_programs((2, 2), 1, fault=Fault("kill", program, rank, 0, 0), outlive=outlive)
    errors = collect_errors(reports)
    assert {name for name in errors if not name.startswith(str(program))} == {f"{1 - program}-0", f"{1 - program}-1"}
    for name, error in errors.items():
        assert error["after"] < 18, (name, error)  # seconds; some hundredths on an idle machine
        assert any(phrase in error["text"] for phrase in ("is lost", "has ended", "has failed")), error


@pytest.mark.long
def test_a_stopped_rank_is_waited_for():
    run_programs((2, 2), 1, fault=Fault("stop", 0, 1, 0, 0))
