"""A random stress of pipes between programs, which checks every byte and every error.

usage: python tests/stress/pipe_storm.py --seed S [--hosts H] [--fault KIND]       the seed makes the same run again
       python tests/stress/pipe_storm.py --minutes M [--seed S]                    with new seeds, until the time is up

A run starts several programs (pipe_end.py), a writer and its readers, which use one pipe after the other as
pipe_plan.py draws it from the seed. In many runs one process fails on purpose. Each process writes a report; this
program checks that exactly the expected processes report success, and that their errors are those of the fault.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipe_plan import FATAL, KILLS, Fault, Program, draw_round

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
from several_hosts.launch import find_launcher
from several_hosts.spec import HEAD_ADDRESS

HERE = Path(__file__).parent
HOSTS = HERE.parents[1] / "scripts/hosts.py"
# A shell that outlives its rank: if a rank was killed, the launcher would kill the remaining ranks.
OUTLIVING_SHELL = ["sh", "-c", '"$@"; sleep 100', "sh"]
# The seconds within which other processes must get an error after a fault, on a busy machine.
LIMITS = {"raise": 8.0, "kill": 8.0, "shoot": 8.0, "cut": 30.0}


@dataclass
class Run:
    """The programs, hosts and fault of one run, which follow from the seed."""

    seed: int
    programs: list[Program]
    rounds: int  # number of pipes
    fault: Fault = field(default_factory=Fault)
    hosts: int = 1
    together: bool = False  # all programs are one MPI job
    outlive: bool = False  # shells hide the end of a killed rank from its launcher
    delay: str = ""  # delay of the network between hosts, such as 2ms
    more: str = ""  # options of all pipes, appended to their URLs


def choose_run(seed: int, hosts: int, kind: str) -> Run:
    generator = random.Random(seed)
    count = generator.choice([1, 1, 2, 2, 3, 3])
    count = hosts or count
    kinds = ["none"] * 5 + ["raise", "raise", "kill", "shoot", "shoot", "stop"] + (["cut", "flap"] if count > 1 else [])
    fault = generator.choice(kinds)
    if kind:
        fault = kind
    programs = []
    for number in range(generator.choice([2, 2, 2, 3, 3, 4])):
        ranks, alone = generator.choice([1, 2, 2, 3, 3, 4, 6]), generator.random() < 0.15
        host = generator.randrange(count)
        if fault == "cut":  # the writer has host 0 for itself, so that the fault separates writer and readers
            host = 0 if number == 0 else generator.randrange(1, count)
        spread = 1 if alone or fault == "cut" else generator.randint(1, min(count, ranks))
        programs.append(Program(ranks, alone, host, spread))
    together = (
        count == 1
        and fault not in KILLS
        and generator.random() < 0.2
        and not any(program.alone for program in programs)
    )
    victim = generator.randrange(len(programs))
    if fault == "cut":
        victim = generator.choice([0, generator.randrange(len(programs))])
    rounds = generator.choice([2, 4, 6])
    number = generator.randrange(rounds)
    steps = draw_round(seed, number, programs, Fault()).steps
    planned_fault = Fault(
        fault, victim, generator.randrange(programs[victim].processes), number, generator.randrange(steps)
    )
    delay = generator.choice(["", "", "100us", "2ms"]) if count > 1 else ""
    # If the victim's program has several hosts, only its launcher notices that a process of another host was killed.
    outlive = generator.random() < 0.6 and programs[victim].hosts == 1
    return Run(seed, programs, rounds, planned_fault, count, together, outlive, delay)


def program_command(run: Run, number: int, folder: Path) -> list[str]:
    """Returns the command of one process of a program."""
    command = [sys.executable, HERE / "pipe_end.py", "--seed", run.seed, "--program", number, "--rounds", run.rounds]
    command += ["--programs", *(program.text() for program in run.programs)]
    command += ["--fault", run.fault.text(), "--folder", folder, "--more", run.more]
    return [str(word) for word in command]


def launch_command(run: Run, number: int, folder: Path) -> list[str]:
    """Returns the command that starts all processes of a program on its hosts."""
    program, command = run.programs[number], program_command(run, number, folder)
    if program.alone and run.hosts == 1:
        return command
    names = [f"host{(program.host + i) % run.hosts}" for i in range(program.hosts)]
    if program.alone:
        return ["on-host", names[0], f"PLAIT_MEET={folder / 'meet'} exec {shlex.join(command)}"]
    launcher = [find_launcher()]
    if run.hosts > 1:
        agent = shutil.which("on-host")
        assert agent is not None
        ranks_per_host = -(-program.ranks // program.hosts)
        launcher += ["-launcher", "ssh", "-launcher-exec", agent, "-localhost", HEAD_ADDRESS]
        launcher += ["-hosts", ",".join(f"{name}:{ranks_per_host}" for name in names)]
    outlive = OUTLIVING_SHELL if run.fault.kind in KILLS and run.outlive and number == run.fault.program else []
    return [*launcher, "-n", str(program.ranks), *outlive, *command]


def launch_commands(run: Run, folder: Path) -> list[list[str]]:
    """Returns the commands that start all programs: one for each, or one for all if they are one MPI job."""
    if not run.together:
        return [launch_command(run, number, folder) for number in range(len(run.programs))]
    command = [find_launcher()]
    for number, program in enumerate(run.programs):
        command += [*([":"] if number else []), "-n", str(program.ranks), *program_command(run, number, folder)]
    return [command]


def expected_reports(run: Run) -> set[str]:
    """Returns the names of the reports of the processes that end well, or with the error of the fault."""
    names = set()
    for number, program in enumerate(run.programs):
        for rank in range(program.processes):
            # A launcher that notices the end of the killed rank kills all ranks of the program.
            is_killed = number == run.fault.program and (rank == run.fault.rank or not run.outlive)
            if run.fault.kind not in KILLS or not is_killed:
                names.add(f"done-{number}-{rank}")
    return names


def find_wrong_errors(run: Run, reports: dict[str, Any]) -> list[str]:
    """Returns a text for each process whose errors are not those that the fault must or may cause."""
    if run.fault.kind not in FATAL:
        return [f"{name}: {report['errors']}" for name, report in reports.items() if report["errors"]]
    fault_round = draw_round(run.seed, run.fault.number, run.programs, run.fault)
    problems = []
    for name, report in reports.items():
        program, rank = map(int, name.removeprefix("done-").split("-"))
        is_victim = program == run.fault.program
        if run.fault.program == 0 or is_victim:
            # The writer's last step never arrives at the readers; other ranks of the victim's program get an error.
            must_fail = may_fail = True
        else:
            must_fail, may_fail = program == 0 and not fault_round.drop, not fault_round.drop
        if run.fault.kind == "cut":  # the link of the victim's host, where other programs may run too
            must_fail, may_fail = (not fault_round.drop if program == 0 else is_victim or run.fault.program == 0), True
        if len(report["errors"]) != 1:
            if must_fail or report["errors"]:
                problems.append(f"{name}: one error was expected: {report['errors']}")
            continue
        error = report["errors"][0]
        has_raised = run.fault.kind == "raise" and is_victim and rank == run.fault.rank
        if not may_fail:
            problems.append(f"{name}: no error was expected: {error}")
        elif has_raised != (error["kind"] == "ZeroDivisionError"):
            problems.append(f"{name}: not that error: {error}")
        elif not 0 <= error["after"] < LIMITS[run.fault.kind]:
            problems.append(f"{name}: error after {error['after']:.1f} s: {error}")
        elif not has_raised and not error["text"].strip():
            problems.append(f"{name}: an error without words")
    problems += [
        f"the ranks of program {number} have different errors: {texts}"
        for number in range(len(run.programs))
        if number != run.fault.program
        and len(
            texts := {
                error["text"]
                for name, report in reports.items()
                if name.startswith(f"done-{number}-")
                for error in report["errors"]
            }
        )
        > 1
    ]
    return problems


def execute(run: Run, seconds: float) -> tuple[bool, str, dict[str, Any]]:
    """Starts the programs and waits for them; returns (success, problems and output, reports by their names)."""
    folder = Path(tempfile.mkdtemp(prefix="plait-pipes-"))
    meet = folder / "meet"
    meet.mkdir(mode=0o700)
    expected = expected_reports(run)
    jobs = []
    limit = time.monotonic() + seconds
    with (folder / "output").open("w+") as output:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
        streams["env"] = {**os.environ, "PLAIT_MEET": str(meet)}
        jobs = [
            subprocess.Popen(command, start_new_session=True, **streams) for command in launch_commands(run, folder)
        ]
        while time.monotonic() < limit and not any(folder.glob("failed-*")):
            if expected <= {path.name for path in folder.glob("done-*")} or all(job.poll() is not None for job in jobs):
                break
            time.sleep(0.02)
        is_late = time.monotonic() >= limit
        if run.fault.kind == "stop":  # the launcher of a stopped process may have stopped too
            for job in jobs:
                with suppress(ProcessLookupError):
                    os.killpg(job.pid, signal.SIGCONT)
        # After a kill or a cut, the processes sleep after their reports and the launchers do not end by themselves.
        end_limit = time.monotonic() + (0.5 if run.fault.kind in (*KILLS, "cut") else 10)
        while time.monotonic() < end_limit and any(job.poll() is None for job in jobs) and not is_late:
            time.sleep(0.02)
        running = [job for job in jobs if job.poll() is None]
        for job in running:
            os.killpg(job.pid, signal.SIGTERM)
        for job in running:
            try:
                job.wait(3)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
        output.seek(0)
        output_text = output.read()
    reports = {path.name: json.loads(path.read_text()) for path in sorted(folder.glob("done-*"))}
    failed = {path.name: path.read_text() for path in sorted(folder.glob("failed-*"))}
    problems = [f"it took more than {seconds:.0f} s"] if is_late else []
    if set(reports) != expected:
        problems.append(f"done: {sorted(reports)}, expected {sorted(expected)}; failed: {failed}")
    problems += find_wrong_errors(run, reports)
    if run.fault.kind not in (*KILLS, "cut"):
        problems += [f"left behind: {path.name}" for path in meet.iterdir()]
        problems += [f"a launcher ended with {job.returncode}" for job in jobs if job.returncode]
    shutil.rmtree(folder, ignore_errors=True)
    return not problems, "\n".join([*problems, output_text]), reports


def run_once(arguments: argparse.Namespace, seed: int) -> bool:
    """Carries out the run of a seed, if it needs several hosts on new ones, and prints the result; True for success."""
    run = choose_run(seed, arguments.hosts, arguments.fault)
    options = f"--seed {seed} --hosts {run.hosts}" + (f" --fault {arguments.fault}" if arguments.fault else "")
    os.environ.pop(
        "PLAIT_MPIEXEC", None
    )  # a launcher set by scripts/hosts.py for all hosts; launch_command names hosts
    if run.hosts > 1 and not arguments.here:
        delay = ["--delay", run.delay] if run.delay else []
        command = [
            sys.executable,
            HOSTS,
            "exec",
            "--hosts",
            run.hosts,
            *delay,
            "--",
            sys.executable,
            __file__,
            "--here",
        ]
        done = subprocess.run([str(word) for word in [*command, *options.split()]], check=False)
        return done.returncode == 0
    begin = time.monotonic()
    is_good, text, reports = execute(run, arguments.limit)
    checked = sum(report["checked"] for report in reports.values())
    after = max([error["after"] for report in reports.values() for error in report["errors"]], default=0.0)
    programs = " ".join(program.text() for program in run.programs)
    print(
        f"{'good' if is_good else 'FAILED'}: {options}  # {programs}{' together' if run.together else ''} "
        f"{run.fault.text()}{' outlived' if run.outlive and run.fault.kind == 'kill' else ''} {run.delay}: "
        f"{run.rounds} pipes, {checked} bytes, errors after {after:.2f} s, {time.monotonic() - begin:.1f} s",
        flush=True,
    )
    if not is_good:
        print(text, flush=True)
    return is_good


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 20), help="of the first run")
    parser.add_argument("--minutes", type=float, default=0, help="go on with the next seeds for so long")
    parser.add_argument("--hosts", type=int, default=0, help="how many; default: 1 to 3")
    parser.add_argument("--fault", choices=("none", "stop", "flap", *FATAL), default="")
    parser.add_argument("--limit", type=int, default=60, help="seconds that a run may take")
    parser.add_argument("--keep-on", action="store_true", help="go on after a run that failed")
    parser.add_argument("--here", action="store_true", help="this program already runs on hosts of scripts/hosts.py")
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    runs = failed = 0
    while runs == 0 or time.monotonic() < end:
        failed += not run_once(arguments, arguments.seed + runs)
        runs += 1
        if failed and not arguments.keep_on:
            break
    if arguments.minutes:
        print(f"{runs} runs, {failed} failed", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
