"""A process that makes one copy by one library, and tells how long it took and how much memory it needed.

usage: python -m plait_bench.copies.worker TOOL ROW SIZE MEMORY SOURCE TARGET
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from plait_bench.copies.rows import ITEMSIZE, Row, rows


def _durable(folder: str) -> None:
    """Wait until what is in a file system survives a loss of power, as Plait does."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        ctypes.CDLL(None).syncfs(descriptor)
    finally:
        os.close(descriptor)


def _peak() -> int:
    """Return the most bytes of memory that this process has had; getrusage() would count those of its parent too."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


def _by_plait(row: Row, source: str, target: str, memory: int) -> None:
    import plait

    options: dict[str, Any] = {"target_order": row.target.order}
    if row.target.chunks:
        options = {"chunks": row.target.chunks, "codec": row.target.codec, "shards": row.target.shards}
    plait.copy(source, target, memory=memory, **options)


def _windows(row: Row, memory: int) -> Iterator[tuple[slice, ...]]:
    """The windows that Plait would choose for one pass, for libraries that choose none."""
    from plait._copying.boxes import Kept, Moved, boxes

    target = row.target
    kept = Kept(target.order, target.shards or target.chunks, target.codec != "none" or target.shards is not None)
    for window in boxes(Moved(row.shape, ITEMSIZE), row.source.kept, kept, memory).windows():
        yield window.region


def _by_zarr(row: Row, source: str, target: str, memory: int) -> None:
    import zarr
    from zarr.codecs import ZstdCodec

    given = zarr.open_array(source, mode="r")
    level = int(row.target.codec.partition(":")[2] or 0)
    codec = ZstdCodec(level=level) if row.target.codec != "none" else None
    told: dict[str, Any] = {"chunks": row.target.chunks, "shards": row.target.shards, "compressors": codec}
    made = zarr.create_array(target, shape=row.shape, dtype="f4", **told)
    for region in _windows(row, memory // 2):
        made[region] = given[region]


def _by_numpy(row: Row, source: str, target: str, memory: int) -> None:
    import numpy as np

    given: Any = np.load(source, mmap_mode="r")
    made: Any = np.lib.format.open_memmap(target, "w+", "f4", row.shape, fortran_order=row.target.order == "F")
    made[...] = given
    made.flush()


def _by_tensorstore(row: Row, source: str, target: str, memory: int) -> None:
    import tensorstore as ts  # type: ignore[import-not-found]

    context = {"cache_pool": {"total_bytes_limit": memory // 2}}
    base = {"driver": "zarr3", "context": context}
    given = ts.open({**base, "kvstore": {"driver": "file", "path": source}}, open=True).result()
    codecs: list[Any] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    if row.target.codec != "none":
        codecs.append({"name": "zstd", "configuration": {"level": int(row.target.codec.partition(":")[2])}})
    if row.target.shards:
        codecs = [{"name": "sharding_indexed", "configuration": {"chunk_shape": row.target.chunks, "codecs": codecs}}]
    grid = {"name": "regular", "configuration": {"chunk_shape": row.target.shards or row.target.chunks}}
    told = {"shape": row.shape, "data_type": "float32", "chunk_grid": grid, "codecs": codecs}
    made = ts.open(
        {**base, "kvstore": {"driver": "file", "path": target}, "metadata": told}, create=True, delete_existing=True
    ).result()
    made.write(given).result()


TOOLS: dict[str, tuple[str, Callable[[Row, str, str, int], None]]] = {
    "plait": ("abcfg", _by_plait),
    "zarr-python": ("abfg", _by_zarr),
    "tensorstore": ("abfg", _by_tensorstore),
    "numpy": ("c", _by_numpy),
}
"""By their names: the rows that they can do, and how."""


def main() -> None:
    """Make the copy."""
    tool, key, size, memory, source, target = sys.argv[1:]
    row = rows(int(size))[key]
    if tool == "tensorstore":
        import tensorstore  # noqa: F401
    elif tool == "zarr-python":
        import zarr  # noqa: F401
    else:
        import plait  # noqa: F401
    before = _peak()
    begin = time.perf_counter()
    TOOLS[tool][1](row, source, target, int(memory))
    _durable(os.path.dirname(target))
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "peak": _peak(), "before": before}))


if __name__ == "__main__":
    main()
