"""Copies maps to time series in parts, kills some of the parts, and compares time and reads with other ways.

The array has the shape and the chunks of an hourly year of ERA5, scaled: chunks of one map in the source, of a whole
year of a small area in the target. A pool copies the parts; `--kills` parts are copied by processes of their own, which
are killed at a random time first. Each way is checked element by element. The bytes that the parts read of the source
are those that the kernel has counted (/proc/self/io).

    python tests/stress/copy_parts.py --rounds 3 --kills 10
"""

import argparse
import os
import pickle
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import plait

COPY_PART = "import sys, pickle, plait; plait.run_task(pickle.load(open(sys.argv[1], 'rb')))"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default="/tmp/plait-parts", help="where the files are made")
    parser.add_argument("--shape", default="2190,180,360", help="of the array; 1/64 of a year of ERA5")
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="64M", help="of each process")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ways", default="parts,copy,dask")
    return parser.parse_args()


def make_source(name, shape):
    """Write smooth maps with noise, which compress to about half."""
    rng = np.random.default_rng(0)
    smooth = np.add.outer(np.sin(np.arange(shape[1]) / 30), np.cos(np.arange(shape[2]) / 40))
    options = {"chunks": (1, *shape[1:]), "codec": "zstd:1", "dimension_names": ("time", "lat", "lon")}
    with plait.open(name, "w", shape=shape, dtype="f4", **options) as file:
        for begin in range(0, shape[0], 64):
            end = min(begin + 64, shape[0])
            noise = rng.integers(0, 64, (end - begin, *shape[1:])) / 64
            file.write((smooth + noise).astype("f4"), region=(slice(begin, end), slice(None), slice(None)))


def run_counted_task(task):
    """Copy a part; return its result, and the number of bytes that this process has read during the copy."""
    before = count_read_bytes()
    result = plait.run_task(task)
    return result, count_read_bytes() - before


def count_read_bytes():
    """Return the number of bytes that this process has read since its begin, as the kernel counts them."""
    return int(Path("/proc/self/io").read_text(encoding="ascii").split("rchar: ")[1].split("\n")[0])


def kill_part(task, random_source, longest):
    """Begin to copy a part in a new process, and kill that after at most `longest` seconds."""
    Path("task").write_bytes(pickle.dumps(task))
    process = subprocess.Popen([sys.executable, "-c", COPY_PART, "task"])
    time.sleep(random_source.uniform(0, longest))
    process.send_signal(signal.SIGKILL)
    process.wait()


def copy_parts(args, chunks, pool):
    """Copy in parts; return the number of bytes that the parts of the first phase have read from the source."""
    tasks = plait.copy_tasks(
        "in.zarr", "parts.zarr", parts=args.parts, chunks=chunks, codec="zstd:1", memory=args.memory, intermediate=True
    )
    random_source = random.Random(args.seed)
    read = 0
    for number, phase in enumerate(tasks.phases):
        for task in random_source.sample(phase, min(args.kills // len(tasks.phases), len(phase))):
            kill_part(task, random_source, 2.0)
        for _, count in pool.map(run_counted_task, random_source.sample(phase, len(phase))):
            read += count if number == 0 else 0
    plait.finish_copy(tasks)
    return read


def copy_by_dask(args, chunks):
    """Copy by Dask's own rechunking, with as many processes."""
    import dask.array
    import zarr

    array = dask.array.from_zarr("in.zarr").rechunk(chunks)
    store = zarr.create_array("dask.zarr", shape=array.shape, dtype="f4", chunks=chunks)
    dask.array.store(array, store, lock=False, scheduler="threads", num_workers=args.workers)


def check(name, chunks):
    """Compare a target with the source."""
    with plait.open(name) as target, plait.open("in.zarr") as source:
        for begin in range(0, target.shape[0], chunks[1] * 8):
            region = slice(begin, begin + chunks[1] * 8)
            np.testing.assert_array_equal(target[region], source[region])


def main():
    args = parse_arguments()
    shape = tuple(map(int, args.shape.split(",")))
    chunks = (shape[0], -(-shape[1] // 10), -(-shape[2] // 10))
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    os.chdir(args.folder)
    make_source("in.zarr", shape)
    stored = sum(path.stat().st_size for path in Path("in.zarr").rglob("*") if path.is_file())
    seconds = {method: [] for method in args.ways.split(",")}
    with ProcessPoolExecutor(args.workers, get_context("spawn")) as pool:
        list(pool.map(abs, range(args.workers)))
        for number in range(args.rounds):
            for method, times in seconds.items():
                begin = time.perf_counter()
                if method == "parts":
                    read = copy_parts(args, chunks, pool)
                    if not args.kills:  # killed processes are not counted
                        print(f"round {number}: the parts read {read / stored:.3f} times the bytes of the source")
                elif method == "copy":
                    plait.copy("in.zarr", "copy.zarr", chunks=chunks, codec="zstd:1", memory=args.memory)
                else:
                    copy_by_dask(args, chunks)
                times.append(time.perf_counter() - begin)
                check(f"{method}.zarr", chunks)
                shutil.rmtree(f"{method}.zarr")
    for method, times in seconds.items():
        print(
            f"{method}: median {statistics.median(times):.2f} s of {', '.join(f'{seconds:.2f}' for seconds in times)}"
        )
    os.chdir("/")
    shutil.rmtree(args.folder)


if __name__ == "__main__":
    main()
