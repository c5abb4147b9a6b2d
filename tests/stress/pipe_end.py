"""The program that pipe_storm.py starts several times: as the writer of pipes (program 0), and as their readers.

Each process writes a report when it ends: done-PROGRAM-RANK with the errors that the injected fault has caused, or
failed-PROGRAM-RANK with an error that no fault explains.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import signal
import subprocess
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from pipe_plan import FATAL, KILLS, Fault, Program, Round, Variable, draw_round

import plait

# How long a process or a network link stops by these faults.
PAUSE_SECONDS = {"stop": 2, "flap": 4}


class PipeProcess:
    """One process of one program."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.number: int = arguments.program
        self.seed: int = arguments.seed
        self.more: str = arguments.more
        self.folder = Path(arguments.folder)
        self.programs = [Program.parse(text) for text in arguments.programs]
        self.fault = Fault.parse(arguments.fault)
        self.program = self.programs[self.number]
        self.comm: Any = None
        self.rank = 0
        if not self.program.alone:
            from mpi4py import MPI

            # Programs that were started together are one MPI job.
            self.comm = MPI.COMM_WORLD.Split(self.number)
            assert self.comm.size == self.program.ranks
            self.rank = self.comm.rank
        self.is_fault_injected = False
        self.kill_timer: threading.Timer | None = None
        self.checked = self.steps = 0  # numbers of bytes and of steps
        self.errors: list[dict[str, Any]] = []

    def run(self, rounds: int) -> None:
        for number in range(rounds):
            pipe_round = draw_round(self.seed, number, self.programs, self.fault)
            self.random = np.random.default_rng([self.seed, number, self.number])  # the same on all ranks
            has_fault = self.fault.kind in FATAL and self.fault.number == number
            try:
                self.write(pipe_round) if self.number == 0 else self.read(pipe_round)
            except (plait.Error, ZeroDivisionError) as error:
                if not has_fault:
                    raise
                fault_time = self.folder / "fault-time"
                after = time.time() - float(fault_time.read_text()) if fault_time.exists() else -1.0
                self.errors.append(
                    {
                        "round": number,
                        "steps": self.steps,
                        "kind": type(error).__name__,
                        "after": after,
                        "text": str(error),
                    }
                )
            if has_fault and self.fault.kind != "raise":
                return
            # Failed and abandoned pipes leave nothing behind that affects the next pipe.
            if self.comm is not None:
                self.comm.Barrier()

    def inject_fault(self, pipe_round: Round, step: int, before: bool) -> None:
        """Makes the fault happen if this process has it in this step; called before and after the step's first access.

        "shoot" starts a timer before the access that kills the process during it; other faults happen after the access.
        """
        fault = self.fault
        if self.kill_timer is not None:
            self.kill_timer.join()
            time.sleep(60)
        if before != (fault.kind == "shoot"):
            return
        is_victim = (fault.program, fault.rank, fault.number) == (self.number, self.rank, pipe_round.number)
        if not is_victim or self.is_fault_injected or step < fault.step or fault.kind == "none":
            return
        self.is_fault_injected = True
        if fault.kind == "shoot":
            self.kill_timer = threading.Timer(float(np.random.default_rng().exponential(0.003)), self.kill)
            self.kill_timer.start()
            return
        self.write_fault_time()
        if fault.kind == "raise":
            raise ZeroDivisionError("the model blew up")
        if fault.kind == "kill":
            self.kill()
        if fault.kind == "stop":
            helper = subprocess.Popen(["sh", "-c", f"sleep {PAUSE_SECONDS['stop']}; kill -CONT {os.getpid()}"])
            os.kill(os.getpid(), signal.SIGSTOP)
            helper.wait()
        if fault.kind in ("cut", "flap"):
            link = ["ip", "link", "set", "eth0"]
            subprocess.run([*link, "down"], check=True)
            if fault.kind == "flap":
                time.sleep(PAUSE_SECONDS["flap"])
                subprocess.run([*link, "up"], check=True)

    def write_fault_time(self) -> None:
        """Writes the time of the fault for the other processes; the rename makes the file appear with its content."""
        (self.folder / "new-fault-time").write_text(str(time.time()))
        (self.folder / "new-fault-time").rename(self.folder / "fault-time")

    def kill(self) -> None:
        """Kills this process."""
        self.write_fault_time()
        os.kill(os.getpid(), signal.SIGKILL)

    def sleep(self, pipe_round: Round) -> None:
        """Sleeps in a step, as the plan of the round says."""
        max_seconds = pipe_round.habits[self.number].sleeps
        if max_seconds:
            time.sleep(float(self.random.uniform(0, max_seconds)))

    def local_parts(self, variable: Variable, step: int, value: np.ndarray) -> Any:
        """Returns what this process owns of an array: one local array, those of all ranks as a list, or None."""
        model = variable.layout(self.number, step)
        if self.program.alone:
            parts = model.locals(value)
            return parts[0] if len(parts) == 1 else parts
        return model.local(value, self.rank) if self.rank < model.size else None

    def write(self, pipe_round: Round) -> None:
        """Writes the steps of a pipe."""
        first = pipe_round.variables[0]
        options = {"shape": first.shape, "dtype": first.dtype, "comm": self.comm}
        with plait.open(pipe_round.url(pipe_round.count_early_readers(), self.more), "w", **options) as file:
            for variable in pipe_round.variables[1:]:
                file.define(variable.name, variable.shape, variable.dtype)
            for step in range(pipe_round.steps):
                self.sleep(pipe_round)
                new_step = file.begin_step({"number": step, "time": 0.5 * step, "name": f"step {step}"})
                assert new_step is not None
                assert new_step.number == step, f"step {new_step.number} instead of {step}"
                for index, variable in enumerate(pipe_round.variables):
                    value = variable.value(pipe_round.tag(step, index))
                    layout = variable.layout(0, step).layout()
                    parts = self.local_parts(variable, step, value)
                    if index == 0:
                        self.inject_fault(pipe_round, step, before=True)
                    file.write(parts, layout, variable=variable.name)
                    if index == 0:
                        self.inject_fault(pipe_round, step, before=False)
                file.end_step()
                self.steps += 1

    def read(self, pipe_round: Round) -> None:
        """Reads and checks the steps of a pipe, joining and leaving it as the plan of the round says.

        The first reader stops at step `hold` until the late readers have joined. Two kinds of files synchronize them:
        hold-PIPE says that the first reader waits, joined-PIPE-PROGRAM that a late reader has joined.
        """
        habits = pipe_round.habits[self.number]
        hold, joined = (
            self.folder / f"hold-{pipe_round.number}",
            self.folder / f"joined-{pipe_round.number}-{self.number}",
        )
        if habits.late:
            wait_for_file(hold)
        step_numbers: list[int] = []
        has_waited = False
        with plait.open(pipe_round.url(1, self.more), comm=self.comm) as file:
            if habits.late and self.rank == 0:
                joined.touch()
            while len(step_numbers) != habits.leaves and (step := file.begin_step()) is not None:
                step_numbers.append(step.number)
                expected = {"number": step.number, "time": 0.5 * step.number, "name": f"step {step.number}"}
                assert step.attributes == expected, step.attributes
                assert step.variables == tuple(variable.name for variable in pipe_round.variables)
                if self.number == 1 and 0 <= pipe_round.hold <= step.number and not has_waited:
                    has_waited = True
                    hold.touch()
                    for other in range(2, len(self.programs)):
                        if pipe_round.habits[other].late:
                            wait_for_file(self.folder / f"joined-{pipe_round.number}-{other}")
                self.check_arrays(pipe_round, file, step.number)
                self.sleep(pipe_round)
                file.end_step()
                self.steps += 1
        self.check_steps(pipe_round, step_numbers)

    def check_arrays(self, pipe_round: Round, file: plait.File, step: int) -> None:
        """Reads the arrays of a step, and compares each byte."""
        for index, variable in enumerate(pipe_round.variables):
            if self.random.random() < pipe_round.habits[self.number].skips:
                continue
            layout = variable.layout(self.number, step).layout()
            region = variable.regions[self.number]
            if index == 0:
                self.inject_fault(pipe_round, step, before=True)
            actual = file.read(layout, region=region, variable=variable.name)
            if index == 0:
                self.inject_fault(pipe_round, step, before=False)
            value = variable.value(pipe_round.tag(step, index))
            expected = self.local_parts(variable, step, value if region is None else value[region])
            assert file.shape == variable.shape, f"{file.shape} instead of {variable.shape}"
            for actual_part, expected_part in zip(to_list(actual), to_list(expected), strict=True):
                subject = f"round {pipe_round.number}, step {step}, {variable.name}, {layout}, region {region}"
                check_equal(actual_part, expected_part, subject)
                self.checked += expected_part.nbytes

    def check_steps(self, pipe_round: Round, step_numbers: list[int]) -> None:
        """Checks the numbers of the steps that this reader has got."""
        habits = pipe_round.habits[self.number]
        assert step_numbers == sorted(set(step_numbers)), f"round {pipe_round.number}: steps {step_numbers}"
        if not pipe_round.drop and step_numbers:
            assert step_numbers == list(range(step_numbers[0], step_numbers[-1] + 1)), (
                f"round {pipe_round.number}: steps are missing: {step_numbers}"
            )
        if len(step_numbers) == habits.leaves:
            return
        assert step_numbers, f"round {pipe_round.number}: no steps"
        assert step_numbers[-1] == pipe_round.steps - 1, (
            f"round {pipe_round.number}: {step_numbers} of {pipe_round.steps}"
        )
        if not pipe_round.drop:
            assert habits.late or step_numbers[0] == 0, (
                f"round {pipe_round.number}: the first ones are missing: {step_numbers}"
            )
            assert step_numbers[0] <= max(pipe_round.hold, 0), (
                f"round {pipe_round.number}: began with {step_numbers[0]}, not {pipe_round.hold}"
            )


def to_list(parts: Any) -> list[np.ndarray]:
    return [] if parts is None else parts if isinstance(parts, list) else [parts]


def check_equal(actual: np.ndarray, expected: np.ndarray, subject: str) -> None:
    """Checks that two arrays have the same dtype, shape and bytes; `what` is named in the error."""
    assert actual.dtype == expected.dtype, f"{subject}: {actual.dtype} instead of {expected.dtype}"
    assert actual.shape == expected.shape, f"{subject}: {actual.shape} instead of {expected.shape}"
    if actual.tobytes() != expected.tobytes():
        found_bytes, right_bytes = (np.frombuffer(array.tobytes(), "u1") for array in (actual, expected))
        wrong = np.flatnonzero(found_bytes != right_bytes)
        raise AssertionError(f"{subject}: {wrong.size} of {found_bytes.size} bytes are wrong, the first at {wrong[0]}")


def wait_for_file(path: Path, seconds: float = 30) -> None:
    limit = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < limit, f"no other process has created {path.name}"
        time.sleep(0.005)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--program", type=int, required=True, help="number of this program; 0 is the writer")
    parser.add_argument("--programs", nargs="+", required=True, help="ranks@host+hosts of each; 3a: without MPI")
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--fault", default=Fault().text())
    parser.add_argument("--folder", required=True, help="a folder that all processes share, for reports")
    parser.add_argument("--more", default="", help="options of the pipes")
    parser.add_argument(
        "--limit", type=int, default=60, help="seconds after which a process prints its stack and exits"
    )
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    faulthandler.enable()
    faulthandler.dump_traceback_later(arguments.limit, exit=True)
    pipe_process = PipeProcess(arguments)
    name = f"{pipe_process.number}-{pipe_process.rank}"
    try:
        pipe_process.run(arguments.rounds)
    except BaseException as error:
        text = f"program {pipe_process.number}, rank {pipe_process.rank}: {type(error).__name__}: {error}"
        print(f"failed: {text}", flush=True)
        traceback.print_exc()
        (pipe_process.folder / f"failed-{name}").write_text(text)
        if pipe_process.comm is not None:
            pipe_process.comm.Abort(3)
        raise
    report = {"checked": pipe_process.checked, "steps": pipe_process.steps, "errors": pipe_process.errors}
    (pipe_process.folder / f"writing-{name}").write_text(json.dumps(report))
    (pipe_process.folder / f"writing-{name}").rename(pipe_process.folder / f"done-{name}")
    if pipe_process.fault.kind in (*KILLS, "cut"):
        time.sleep(arguments.limit)  # when one process ends, a launcher that noticed the fault would kill the others


if __name__ == "__main__":
    main()
