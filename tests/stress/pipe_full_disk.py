"""A random stress of `plait copy pipe:NAME FILES` to a disk that becomes full: checks the errors and the files left.

usage: python tests/stress/pipe_full_disk.py [--runs N] [--seed S]      the seed makes the same runs again
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
from pipe_plan import DTYPES

import plait

sys.path.append(str(Path(__file__).parents[1] / "python"))
from brute_force import random_model
from plan import expected_bytes

PLAIT = Path(sys.executable).with_name("plait")
# A script for `unshare -rm`, in whose namespace every user may mount a small file system in memory.  Its arguments are
# the size, the folder and a command.  It copies the files that the command leaves to FOLDER-kept, as the file system
# disappears with the namespace.
ON_SMALL_DISK = """
mount -t tmpfs -o size=$1 none "$2" || exit 99
shift
folder=$1
shift
"$@"
status=$?
cp "$folder"/* "$folder"/.[!.]* "$folder-kept/" 2>/dev/null
exit $status
"""


def make_step_array(step: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    count = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
    return np.frombuffer(expected_bytes(step, 0, count).tobytes(), dtype).reshape(shape)


def write_steps(url: str, model, steps: int, dtype: str, errors: list[str]) -> None:
    """Writes to a pipe, and appends the text of an error to `errors`."""
    try:
        with plait.open(url, "w", shape=model.shape, dtype=dtype) as file:
            for step in range(steps):
                parts = model.locals(make_step_array(step, model.shape, dtype))
                file.write(parts[0] if len(parts) == 1 else parts, model.layout())
    except plait.Error as error:
        errors.append(str(error))


def read_steps(url: str, step_numbers: list[int], dtype: str, problems: list[str]) -> None:
    """Reads the pipe beside the copy; if steps are dropped, a full disk must not disturb this reader."""
    try:
        with plait.open(url) as file:
            for step in file:
                if file.read().tobytes() != make_step_array(step.number, file.shape, dtype).tobytes():
                    problems.append(f"step {step.number} is wrong")
                step_numbers.append(step.number)
    except plait.Error as error:
        problems.append(f"the other reader failed: {error}")


def run_once(seed: int) -> list[str]:
    """Returns the problems of one run."""
    generator = random.Random(seed)
    numpy_generator = np.random.default_rng(seed)
    dtype = generator.choice(DTYPES)
    shape = tuple(int(n) for n in numpy_generator.integers(20, 200, 2))
    model = random_model(numpy_generator, shape, generator.choice([1, 2, 3, 4, 6]))
    size = make_step_array(0, shape, dtype).nbytes
    steps = generator.randrange(4, 12)
    disk_size = max(generator.randrange(1, steps) * size // 2, 4096)
    drop = generator.random() < 0.3
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="plait-full-") as folder:
        meet, disk, remaining = (Path(folder) / name for name in ("meet", "disk", "disk-kept"))
        for subfolder in (meet, disk, remaining):
            subfolder.mkdir(mode=0o700)
        os.environ["PLAIT_MEET"] = str(meet)
        url = f"pipe:full?queue={generator.choice([2, 3])}&readers={1 + drop}&timeout=30" + (
            "&drop=oldest" if drop else ""
        )
        errors: list[str] = []
        step_numbers: list[int] = []
        threads = [threading.Thread(target=write_steps, args=(url, model, steps, dtype, errors))]
        if drop:
            threads.append(threading.Thread(target=read_steps, args=("pipe:full", step_numbers, dtype, problems)))
        for thread in threads:
            thread.start()
        command = ["unshare", "-rm", "sh", "-c", ON_SMALL_DISK, "sh", str(disk_size), str(disk), str(PLAIT)]
        command += ["copy", "pipe:full", str(disk / "out-{step}.npy")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return [f"seed {seed}: the copy hangs"]
        for thread in threads:
            thread.join(40)
            if thread.is_alive():
                return [f"seed {seed}: the writer or the other reader hangs"]
        is_full = done.returncode != 0
        if done.returncode == 99:
            raise SystemExit(f"this system does not allow to mount a small disk: {done.stderr}")
        if is_full and not ("No space left on device" in done.stderr and str(disk) in done.stderr):
            problems.append(f"the copy printed: {done.stderr}")
        if is_full and "Traceback" in done.stderr:
            problems.append(f"the copy ended with a traceback: {done.stderr}")
        if (
            is_full
            and not drop
            and not (len(errors) == 1 and "No space left on device" in errors[0] and "has failed" in errors[0])
        ):
            problems.append(f"the writer has the errors {errors}")
        if (not is_full and errors) or (drop and errors):
            problems.append(f"the writer has the errors {errors}")
        for path in remaining.iterdir():
            found = re.fullmatch(r"out-(\d+)\.npy", path.name)
            if not found:
                problems.append(f"left behind: {path.name}")
            elif np.load(path).tobytes() != make_step_array(int(found[1]), shape, dtype).tobytes():
                problems.append(f"{path.name} is wrong")
        problems += [f"left behind: {path.name}" for path in meet.iterdir()]
    state = "FAILED" if problems else "good"
    result = f"{'full' if is_full else 'not full'}{', drop' if drop else ''}"
    print(
        f"{state}: --seed {seed}  # {model.layout()} {dtype}, {steps} steps on {disk_size} bytes: {result}", flush=True
    )
    return [f"seed {seed}: {text}" for text in problems]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 20), help="of the first run")
    arguments = parser.parse_args()
    failed = 0
    for seed in range(arguments.seed, arguments.seed + arguments.runs):
        problems = run_once(seed)
        failed += bool(problems)
        for text in problems:
            print(text, flush=True)
    print(f"{arguments.runs} runs, {failed} failed", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
