"""Runs the stress over and over, with new seeds, until the time is up or a run fails.

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
OUTLIVE = ["sh", "-c", '"$@"; sleep 100', "sh"]


def choose_run(seed: int) -> tuple[list[str], list[str], int, str, int]:
    """How to launch, the options, how many ranks, the fault, and whom it strikes."""
    draw = random.Random(seed)
    hosts, ranks = draw.choice([1, 2, 2, 3, 3]), draw.choice([1, 2, 3, 4, 6])
    hosts = min(hosts, ranks)
    faults = ["none", "none", "none", "stop", "kill", "kill", "cut", "flap"] if hosts > 1 else ["none", "stop"]
    fault = draw.choice(faults)
    victim = draw.randrange(ranks)
    options = ["--seed", seed, "--phases", draw.choice([4, 8]), "--operations", draw.choice([8, 14, 30])]
    options += ["--fault", fault, "--victim", victim]
    how = ["--place", draw.choice(["block", "cyclic"])]
    if fault == "none" and draw.random() < 0.2:
        options.append("--full")
        how += ["--disk-size", draw.choice(["8MB", "16MB"])]
    elif draw.random() < 0.3:
        how += ["--delay", draw.choice(["100us", "2ms"])]
    if fault != "none":
        options += ["--kind", draw.choice(["distant", "shared"])]
        options += ["--first"] if draw.random() < 0.5 else []
    launch = [sys.executable, HOSTS, "run", "--hosts", hosts, "--ranks", ranks, *how, "--"]
    return [str(word) for word in launch], [str(word) for word in options], ranks, fault, victim


def once(seed: int, seconds: int) -> tuple[bool, str]:
    """One run: whether all was well, and what was said."""
    launch, options, ranks, fault, victim = choose_run(seed)
    report = Path(tempfile.mkdtemp(prefix="plait-stress-"))
    lasting = OUTLIVE if fault in ("kill", "cut") else []
    program = [sys.executable, str(HERE / "storm.py"), "--report", str(report), "--patience", str(seconds), *options]
    print(" ".join([*launch, *lasting, *program]), flush=True)
    wanted = {f"done-{rank}" for rank in range(ranks) if fault != "kill" or rank != victim}
    with (report / "output").open("w+") as output:
        process = subprocess.Popen([*launch, *lasting, *program], stdout=output, stderr=subprocess.STDOUT)
        limit = time.monotonic() + seconds + 20
        while process.poll() is None and time.monotonic() < limit:
            if {path.name for path in report.glob("done-*")} >= wanted:
                break
            time.sleep(0.1)
        if process.poll() is None:
            process.terminate()
        process.wait()
        output.seek(0)
        words = output.read()
    said = {path.name: path.read_text() for path in sorted(report.iterdir()) if path.name != "output"}
    shutil.rmtree(report)
    good = set(said) == wanted
    return good, "" if good else f"{said}\n{words}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 20), help="of the first run")
    parser.add_argument("--keep-on", action="store_true", help="go on after a run that failed")
    parser.add_argument("--patience", type=int, default=120, help="seconds that a run may take")
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    runs = failed = 0
    while time.monotonic() < end:
        good, words = once(arguments.seed + runs, arguments.patience)
        runs += 1
        if not good:
            failed += 1
            print(f"FAILED: {words}", flush=True)
            if not arguments.keep_on:
                break
    print(f"{runs} runs, {failed} failed", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
