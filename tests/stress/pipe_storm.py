"""A random stress of pipes between programs, whose every byte and every error is checked.

usage: python tests/stress/pipe_storm.py --seed S [--hosts H] [--fault KIND]       the seed makes the same run again
       python tests/stress/pipe_storm.py --minutes M [--seed S]                    with new seeds, until the time is up
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
# Ranks that have been killed would have their launcher end those that still work.
OUTLIVE = ["sh", "-c", '"$@"; sleep 100', "sh"]
# Errors come within so many seconds, on a machine that has much else to do.
LIMITS = {"raise": 8.0, "kill": 8.0, "shoot": 8.0, "cut": 30.0}


@dataclass
class Run:
    """What is run, which follows from the seed."""

    seed: int
    programs: list[Program]
    rounds: int
    fault: Fault = field(default_factory=Fault)
    hosts: int = 1
    together: bool = False  # one MPI job of all programs
    outlive: bool = False  # the launcher of a killed rank does not hear of it
    delay: str = ""  # from host to host
    more: str = ""  # options of all pipes


def choose_run(seed: int, hosts: int, kind: str) -> Run:
    draw = random.Random(seed)
    count = draw.choice([1, 1, 2, 2, 3, 3])
    count = hosts or count
    kinds = ["none"] * 5 + ["raise", "raise", "kill", "shoot", "shoot", "stop"] + (["cut", "flap"] if count > 1 else [])
    fault = draw.choice(kinds)
    if kind:
        fault = kind
    programs = []
    for number in range(draw.choice([2, 2, 2, 3, 3, 4])):
        ranks, alone = draw.choice([1, 2, 2, 3, 3, 4, 6]), draw.random() < 0.15
        host = draw.randrange(count)
        if fault == "cut":  # each on a host of its own; the victim alone
            host = 0 if number == 0 else draw.randrange(1, count)
        spread = 1 if alone or fault == "cut" else draw.randint(1, min(count, ranks))
        programs.append(Program(ranks, alone, host, spread))
    together = (
        count == 1 and fault not in KILLS and draw.random() < 0.2 and not any(program.alone for program in programs)
    )
    victim = draw.randrange(len(programs))
    if fault == "cut":
        victim = draw.choice([0, draw.randrange(len(programs))])
    rounds = draw.choice([2, 4, 6])
    number = draw.randrange(rounds)
    steps = draw_round(seed, number, programs, Fault()).steps
    planned_fault = Fault(fault, victim, draw.randrange(programs[victim].processes), number, draw.randrange(steps))
    delay = draw.choice(["", "", "100us", "2ms"]) if count > 1 else ""
    # Only the launcher knows whether a process of another host was killed.
    outlive = draw.random() < 0.6 and programs[victim].hosts == 1
    return Run(seed, programs, rounds, planned_fault, count, together, outlive, delay)


def make_command(run: Run, number: int, folder: Path) -> list[str]:
    words = [sys.executable, HERE / "pipe_end.py", "--seed", run.seed, "--program", number, "--rounds", run.rounds]
    words += ["--programs", *(program.text() for program in run.programs)]
    words += ["--fault", run.fault.text(), "--folder", folder, "--more", run.more]
    return [str(word) for word in words]


def launched(run: Run, number: int, folder: Path) -> list[str]:
    """The whole command of one program, on its hosts."""
    program, command = run.programs[number], make_command(run, number, folder)
    if program.alone and run.hosts == 1:
        return command
    names = [f"host{(program.host + i) % run.hosts}" for i in range(program.hosts)]
    if program.alone:
        return ["on-host", names[0], f"PLAIT_MEET={folder / 'meet'} exec {shlex.join(command)}"]
    launcher = [find_launcher()]
    if run.hosts > 1:
        agent = shutil.which("on-host")
        assert agent is not None
        each = -(-program.ranks // program.hosts)
        launcher += ["-launcher", "ssh", "-launcher-exec", agent, "-localhost", HEAD_ADDRESS]
        launcher += ["-hosts", ",".join(f"{name}:{each}" for name in names)]
    outlive = OUTLIVE if run.fault.kind in KILLS and run.outlive and number == run.fault.program else []
    return [*launcher, "-n", str(program.ranks), *outlive, *command]


def commands(run: Run, folder: Path) -> list[list[str]]:
    if not run.together:
        return [launched(run, number, folder) for number in range(len(run.programs))]
    words = [find_launcher()]
    for number, program in enumerate(run.programs):
        words += [*([":"] if number else []), "-n", str(program.ranks), *make_command(run, number, folder)]
    return [words]


def expected(run: Run) -> set[str]:
    """The processes that end well, or with the error of the fault."""
    names = set()
    for number, program in enumerate(run.programs):
        for rank in range(program.processes):
            victim = number == run.fault.program and (
                rank == run.fault.rank or not run.outlive  # their launcher ends them with it
            )
            if run.fault.kind not in KILLS or not victim:
                names.add(f"done-{number}-{rank}")
    return names


def wrong(run: Run, said: dict[str, Any]) -> list[str]:
    """What the errors of the processes should have been, and are not."""
    if run.fault.kind not in FATAL:
        return [f"{name}: {report['errors']}" for name, report in said.items() if report["errors"]]
    now = draw_round(run.seed, run.fault.number, run.programs, run.fault)
    found = []
    for name, report in said.items():
        program, rank = map(int, name.removeprefix("done-").split("-"))
        victim = program == run.fault.program
        if run.fault.program == 0 or victim:
            must = may = True  # the writer's last step never comes; the victim's others hear of it
        else:
            must, may = program == 0 and not now.drop, not now.drop
        if run.fault.kind == "cut":  # the link of the victim's host, on which there may be others
            must, may = (not now.drop if program == 0 else victim or run.fault.program == 0), True
        if len(report["errors"]) != 1:
            if must or report["errors"]:
                found.append(f"{name}: one error was expected: {report['errors']}")
            continue
        error = report["errors"][0]
        raised = run.fault.kind == "raise" and victim and rank == run.fault.rank
        if not may:
            found.append(f"{name}: no error was expected: {error}")
        elif raised != (error["kind"] == "ZeroDivisionError"):
            found.append(f"{name}: not that error: {error}")
        elif not 0 <= error["after"] < LIMITS[run.fault.kind]:
            found.append(f"{name}: error after {error['after']:.1f} s: {error}")
        elif not raised and not error["text"].strip():
            found.append(f"{name}: an error without words")
    found += [
        f"the ranks of program {number} have different errors: {texts}"
        for number in range(len(run.programs))
        if number != run.fault.program
        and len(
            texts := {
                error["text"]
                for name, report in said.items()
                if name.startswith(f"done-{number}-")
                for error in report["errors"]
            }
        )
        > 1
    ]
    return found


def carry_out(run: Run, seconds: float) -> tuple[bool, str, dict[str, Any]]:
    """Starts the programs and waits for them: whether all was well, what was said, and by whom."""
    folder = Path(tempfile.mkdtemp(prefix="plait-pipes-"))
    meet = folder / "meet"
    meet.mkdir(mode=0o700)
    wanted = expected(run)
    jobs = []
    limit = time.monotonic() + seconds
    with (folder / "output").open("w+") as output:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
        streams["env"] = {**os.environ, "PLAIT_MEET": str(meet)}
        jobs = [subprocess.Popen(words, start_new_session=True, **streams) for words in commands(run, folder)]
        while time.monotonic() < limit and not any(folder.glob("failed-*")):
            if wanted <= {path.name for path in folder.glob("done-*")} or all(job.poll() is not None for job in jobs):
                break
            time.sleep(0.02)
        late = time.monotonic() >= limit
        if run.fault.kind == "stop":  # what has led a process to its host stops with it
            for job in jobs:
                with suppress(ProcessLookupError):
                    os.killpg(job.pid, signal.SIGCONT)
        ended = time.monotonic() + (0.5 if run.fault.kind in (*KILLS, "cut") else 10)
        while time.monotonic() < ended and any(job.poll() is None for job in jobs) and not late:
            time.sleep(0.02)
        left = [job for job in jobs if job.poll() is None]
        for job in left:
            os.killpg(job.pid, signal.SIGTERM)
        for job in left:
            try:
                job.wait(3)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
        output.seek(0)
        words = output.read()
    said = {path.name: json.loads(path.read_text()) for path in sorted(folder.glob("done-*"))}
    failed = {path.name: path.read_text() for path in sorted(folder.glob("failed-*"))}
    troubles = [f"it took more than {seconds:.0f} s"] if late else []
    if set(said) != wanted:
        troubles.append(f"done: {sorted(said)}, expected {sorted(wanted)}; failed: {failed}")
    troubles += wrong(run, said)
    if run.fault.kind not in (*KILLS, "cut"):
        troubles += [f"left behind: {path.name}" for path in meet.iterdir()]
        troubles += [f"a launcher ended with {job.returncode}" for job in jobs if job.returncode]
    shutil.rmtree(folder, ignore_errors=True)
    return not troubles, "\n".join([*troubles, words]), said


def once(arguments: argparse.Namespace, seed: int) -> bool:
    """One run, on this machine or on hosts made for it."""
    run = choose_run(seed, arguments.hosts, arguments.fault)
    options = f"--seed {seed} --hosts {run.hosts}" + (f" --fault {arguments.fault}" if arguments.fault else "")
    os.environ.pop("PLAIT_MPIEXEC", None)  # of the hosts: this program says itself which of them are meant
    if run.hosts > 1 and not arguments.here:
        how = ["--delay", run.delay] if run.delay else []
        words = [sys.executable, HOSTS, "exec", "--hosts", run.hosts, *how, "--", sys.executable, __file__, "--here"]
        done = subprocess.run([str(word) for word in [*words, *options.split()]], check=False)
        return done.returncode == 0
    begin = time.monotonic()
    good, words, said = carry_out(run, arguments.patience)
    checked = sum(report["checked"] for report in said.values())
    after = max([error["after"] for report in said.values() for error in report["errors"]], default=0.0)
    programs = " ".join(program.text() for program in run.programs)
    print(
        f"{'good' if good else 'FAILED'}: {options}  # {programs}{' together' if run.together else ''} "
        f"{run.fault.text()}{' outlived' if run.outlive and run.fault.kind == 'kill' else ''} {run.delay}: "
        f"{run.rounds} pipes, {checked} bytes, errors after {after:.2f} s, {time.monotonic() - begin:.1f} s",
        flush=True,
    )
    if not good:
        print(words, flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 20), help="of the first run")
    parser.add_argument("--minutes", type=float, default=0, help="go on with the next seeds for so long")
    parser.add_argument("--hosts", type=int, default=0, help="how many; default: 1 to 3")
    parser.add_argument("--fault", choices=("none", "stop", "flap", *FATAL), default="")
    parser.add_argument("--patience", type=int, default=60, help="seconds that a run may take")
    parser.add_argument("--keep-on", action="store_true", help="go on after a run that failed")
    parser.add_argument("--here", action="store_true", help="on the hosts that have been made")
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    runs = failed = 0
    while runs == 0 or time.monotonic() < end:
        failed += not once(arguments, arguments.seed + runs)
        runs += 1
        if failed and not arguments.keep_on:
            break
    if arguments.minutes:
        print(f"{runs} runs, {failed} failed", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
