"""Runs storm.py repeatedly on random hosts with random options and faults, until the time is up or a run fails.

usage: python tests/stress/long.py [--minutes M]      prints the command of each run
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
HOSTS = HERE.parents[1] / "scripts/hosts.py"
# A shell that outlives its rank: if a rank ended or was killed, the launcher would kill the remaining ranks.
OUTLIVING_SHELL = ["sh", "-c", '"$@"; sleep 100', "sh"]


def choose_run(seed: int) -> tuple[list[str], list[str], int, str, int]:
    """Returns (launcher command, options of storm.py, number of ranks, kind of fault, its victim) for a seed."""
    generator = random.Random(seed)
    hosts, ranks = generator.choice([1, 2, 2, 3, 3]), generator.choice([1, 2, 3, 4, 6])
    hosts = min(hosts, ranks)
    faults = ["none", "none", "none", "stop", "kill", "kill", "cut", "flap"] if hosts > 1 else ["none", "stop"]
    fault = generator.choice(faults)
    victim = generator.randrange(ranks)
    options = ["--seed", seed, "--phases", generator.choice([4, 8]), "--operations", generator.choice([8, 14, 30])]
    options += ["--fault", fault, "--victim", victim]
    host_options = ["--place", generator.choice(["block", "cyclic"])]
    if fault == "none" and generator.random() < 0.2:
        options.append("--full")
        host_options += ["--disk-size", generator.choice(["8MB", "16MB"])]
    elif generator.random() < 0.3:
        host_options += ["--delay", generator.choice(["100us", "2ms"])]
    if fault != "none":
        options += ["--kind", generator.choice(["distant", "shared"])]
        options += ["--first"] if generator.random() < 0.5 else []
    launch = [sys.executable, HOSTS, "run", "--hosts", hosts, "--ranks", ranks, *host_options, "--"]
    return [str(word) for word in launch], [str(word) for word in options], ranks, fault, victim


def run_once(seed: int, seconds: int) -> tuple[bool, str]:
    """Runs storm.py once; returns whether all expected ranks reported success, and otherwise the reports and output."""
    launch, options, ranks, fault, victim = choose_run(seed)
    report = Path(tempfile.mkdtemp(prefix="plait-stress-"))
    wrapper = OUTLIVING_SHELL if fault in ("kill", "cut") else []
    program = [sys.executable, str(HERE / "storm.py"), "--report", str(report), "--limit", str(seconds), *options]
    print(" ".join([*launch, *wrapper, *program]), flush=True)
    expected = {f"done-{rank}" for rank in range(ranks) if fault != "kill" or rank != victim}
    with (report / "output").open("w+") as output:
        process = subprocess.Popen([*launch, *wrapper, *program], stdout=output, stderr=subprocess.STDOUT)
        limit = time.monotonic() + seconds + 20
        while process.poll() is None and time.monotonic() < limit:
            if {path.name for path in report.glob("done-*")} >= expected:
                break
            time.sleep(0.1)
        if process.poll() is None:
            process.terminate()
        process.wait()
        output.seek(0)
        output_text = output.read()
    reports = {path.name: path.read_text() for path in sorted(report.iterdir()) if path.name != "output"}
    shutil.rmtree(report)
    is_good = set(reports) == expected
    return is_good, "" if is_good else f"{reports}\n{output_text}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 20), help="of the first run")
    parser.add_argument("--keep-on", action="store_true", help="go on after a run that failed")
    parser.add_argument("--limit", type=int, default=120, help="seconds that a run may take")
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    runs = failed = 0
    while time.monotonic() < end:
        is_good, text = run_once(arguments.seed + runs, arguments.limit)
        runs += 1
        if not is_good:
            failed += 1
            print(f"FAILED: {text}", flush=True)
            if not arguments.keep_on:
                break
    print(f"{runs} runs, {failed} failed", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
