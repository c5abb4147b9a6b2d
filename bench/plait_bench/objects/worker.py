"""A process that makes one measurement; Plait reads the settings of connections and pieces only once per process.

usage: python -m plait_bench.objects.worker TASK
TASK is a JSON object: the name of a function of this module as `task`, and its arguments. The result is a JSON object.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import plait
from plait_bench.objects.location import ITEMSIZE, Target, content
from plait_bench.objects.tools import TOOLS

SMALL = 4096
"""Bytes of a small object, and of a small read."""
_CACHED_HEAD_BYTES = 64 << 10
"""Plait reads this many bytes at the beginning of an object when it opens it; later reads of them send no request."""


def latency(url: str, shape: int | None, put: str | None, count: int) -> dict[str, Any]:
    """Return the seconds of small reads, and of small puts below the location `put` unless it is None."""
    gets, puts = [], []
    with Target(url, shape).open() as file:
        first, rows = _small_region(file)
        for number in range(count + 1):
            begin = time.perf_counter()
            file.read(region=np.s_[first + number % 2 : first + number % 2 + rows])
            gets.append(time.perf_counter() - begin)
    if put is not None:
        from plait._core import open_objects

        objects = open_objects(put)
        for _ in range(count + 1):
            begin = time.perf_counter()
            objects.put("small", bytes(SMALL))
            puts.append(time.perf_counter() - begin)
    return {"gets": gets[1:], "puts": puts[1:]}  # the first one connects


def _small_region(file: Any) -> tuple[int, int]:
    """Return the first row and the number of rows of a small read that the cached beginning of the object lacks."""
    row = _row_bytes(file)
    rows = max(1, SMALL // row)
    first = _CACHED_HEAD_BYTES // row + 1
    if first + rows + 1 > file.shape[0]:
        raise ValueError(f"{file.shape[0]} rows of {row} bytes are too few: measure an object of at least 1 MiB")
    return first, rows


def _row_bytes(file: Any) -> int:
    if not file.shape:
        raise ValueError("the object has one element: measure an object of at least 1 MiB")
    return max(1, math.prod(map(int, file.shape[1:])) * int(np.dtype(file.dtype).itemsize))


class Amount(NamedTuple):
    """The amount of data of the two accesses of a measurement."""

    warm: int
    """Bytes of the first access, which opens the connections."""
    max_bytes: int
    """Maximum bytes of the second access, which is measured."""
    seconds: float
    """Approximate duration of the second access."""


def get(url: str, shape: int | None, known: bool, amount: Sequence[Any]) -> dict[str, Any]:
    """Return the time of one read.

    known   True if the object has the elements of content(), so that they can be checked
    amount  the fields of Amount
    """
    with Target(url, shape).open() as file:
        row = _row_bytes(file)

        def read(count: int) -> dict[str, Any]:
            region = np.s_[: max(1, min(file.shape[0], count // row))]
            elements, sample = _time_call(lambda: file.read(region=region))
            if known:
                _check(elements, 0, len(elements))
            return {"bytes": elements.nbytes, **sample}

        return _second_sample(read, Amount(*amount))


def put(url: str, piece: int, amount: Sequence[Any]) -> dict[str, Any]:
    """Return the time of puts of `piece` bytes each, like :func:`get`."""
    chunk = piece // ITEMSIZE
    size = Amount(*amount)
    count = (size.warm + size.max_bytes) // piece * chunk
    with plait.open(url, "w", shape=(count,), dtype="u8", chunks=(chunk,), durable=False) as file:
        position = 0  # the element at which the next write begins

        def write(count: int) -> dict[str, Any]:
            nonlocal position
            end = position + max(1, count // piece) * chunk
            data, region = content(position, end), np.s_[position:end]
            _, sample = _time_call(lambda: file.write(data, region=region))
            position = end
            return {"bytes": data.nbytes, **sample}

        result = _second_sample(write, size)
    with plait.open(url) as file:
        for begin, end in ((0, chunk), (position - chunk, position)):
            _check(file.read(region=np.s_[begin:end]), begin, end)
    return result


def _second_sample(work: Callable[[int], dict[str, Any]], size: Amount) -> dict[str, Any]:
    """Return the second of two samples. The first one opens the connections, and its rate sets the second's size."""
    first = work(size.warm)
    return work(min(size.max_bytes, max(size.warm, int(first["bytes"] / first["seconds"] * size.seconds))))


def _time_call(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return the result of a call, and its seconds of real time and of processor time."""
    processor, begin = time.process_time(), time.perf_counter()
    result = work()
    seconds = time.perf_counter() - begin
    return result, {"seconds": seconds, "processor": time.process_time() - processor}


def _check(array: Any, begin: int, end: int) -> None:
    if not np.array_equal(array, content(begin, end)):
        raise ValueError("WRONG DATA: an element differs from what was written")


def tool(name: str, url: str, elements: int, chunk: int) -> dict[str, Any]:
    """Return the time of reading a Zarr array by one tool."""
    read = TOOLS[name].prepare(url, elements, chunk)
    array, sample = _time_call(read)
    _check(array, 0, elements)
    return {"bytes": elements * ITEMSIZE, **sample}


_TASKS: dict[str, Callable[..., dict[str, Any]]] = {"latency": latency, "get": get, "put": put, "tool": tool}


def main() -> None:
    """Run the task that the command line describes."""
    task = json.loads(sys.argv[1])
    try:
        print(json.dumps(_TASKS[task.pop("task")](**task)))
    except Exception as error:
        sys.exit(" ".join(str(error).split()) or type(error).__name__)


if __name__ == "__main__":
    main()
