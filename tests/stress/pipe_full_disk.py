"""A random stress of `plait copy pipe:NAME FILES` onto a disk that becomes full: errors, and the files that remain.

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
# In a namespace of its own a user may mount a small disk.
ON_SMALL_DISK = """
mount -t tmpfs -o size=$1 none "$2" || exit 99
shift
to=$1
shift
"$@"
said=$?
cp "$to"/* "$to"/.[!.]* "$to-kept/" 2>/dev/null
exit $said
"""


def value(step: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    count = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
    return np.frombuffer(expected_bytes(step, 0, count).tobytes(), dtype).reshape(shape)


def write(url: str, model, steps: int, dtype: str, errors: list[str]) -> None:
    try:
        with plait.open(url, "w", shape=model.shape, dtype=dtype) as file:
            for step in range(steps):
                parts = model.locals(value(step, model.shape, dtype))
                file.write(parts[0] if len(parts) == 1 else parts, model.layout())
    except plait.Error as error:
        errors.append(str(error))


def read(url: str, seen: list[int], dtype: str, wrong: list[str]) -> None:
    """Another reader, which no full disk is to disturb where steps are dropped."""
    try:
        with plait.open(url) as file:
            for step in file:
                if file.read().tobytes() != value(step.number, file.shape, dtype).tobytes():
                    wrong.append(f"step {step.number} is wrong")
                seen.append(step.number)
    except plait.Error as error:
        wrong.append(f"the other reader failed: {error}")


def once(seed: int) -> list[str]:
    """What was wrong."""
    draw = random.Random(seed)
    numbers = np.random.default_rng(seed)
    dtype = draw.choice(DTYPES)
    shape = tuple(int(n) for n in numbers.integers(20, 200, 2))
    model = random_model(numbers, shape, draw.choice([1, 2, 3, 4, 6]))
    size = value(0, shape, dtype).nbytes
    steps = draw.randrange(4, 12)
    room = max(draw.randrange(1, steps) * size // 2, 4096)
    drop = draw.random() < 0.3
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="plait-full-") as folder:
        meet, disk, kept = (Path(folder) / name for name in ("meet", "disk", "disk-kept"))
        for subfolder in (meet, disk, kept):
            subfolder.mkdir(mode=0o700)
        os.environ["PLAIT_MEET"] = str(meet)
        url = f"pipe:full?queue={draw.choice([2, 3])}&readers={1 + drop}&timeout=30" + ("&drop=oldest" if drop else "")
        errors: list[str] = []
        seen: list[int] = []
        threads = [threading.Thread(target=write, args=(url, model, steps, dtype, errors))]
        if drop:
            threads.append(threading.Thread(target=read, args=("pipe:full", seen, dtype, wrong)))
        for thread in threads:
            thread.start()
        words = ["unshare", "-rm", "sh", "-c", ON_SMALL_DISK, "sh", str(room), str(disk), str(PLAIT)]
        words += ["copy", "pipe:full", str(disk / "out-{step}.npy")]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return [f"seed {seed}: the copy hangs"]
        for thread in threads:
            thread.join(40)
            if thread.is_alive():
                return [f"seed {seed}: an end hangs"]
        full = done.returncode != 0
        if done.returncode == 99:
            raise SystemExit(f"no small disk can be had here: {done.stderr}")
        if full and not ("No space left on device" in done.stderr and str(disk) in done.stderr):
            wrong.append(f"the copy said: {done.stderr}")
        if full and "Traceback" in done.stderr:
            wrong.append(f"the copy broke down: {done.stderr}")
        if (
            full
            and not drop
            and not (len(errors) == 1 and "No space left on device" in errors[0] and "has failed" in errors[0])
        ):
            # A writer that has written all does not wait for further errors.
            wrong.append(f"the writer has the errors {errors}")
        if (not full and errors) or (drop and errors):
            wrong.append(f"the writer has the errors {errors}")
        for path in kept.iterdir():
            found = re.fullmatch(r"out-(\d+)\.npy", path.name)
            if not found:
                wrong.append(f"left behind: {path.name}")
            elif np.load(path).tobytes() != value(int(found[1]), shape, dtype).tobytes():
                wrong.append(f"{path.name} is wrong")
        wrong += [f"left behind: {path.name}" for path in meet.iterdir()]
    state = "FAILED" if wrong else "good"
    how = f"{'full' if full else 'enough room'}{', drop' if drop else ''}"
    print(f"{state}: --seed {seed}  # {model.layout()} {dtype}, {steps} steps on {room} bytes: {how}", flush=True)
    return [f"seed {seed}: {text}" for text in wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 20), help="of the first run")
    arguments = parser.parse_args()
    failed = 0
    for seed in range(arguments.seed, arguments.seed + arguments.runs):
        wrong = once(seed)
        failed += bool(wrong)
        for text in wrong:
            print(text, flush=True)
    print(f"{arguments.runs} runs, {failed} failed", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
