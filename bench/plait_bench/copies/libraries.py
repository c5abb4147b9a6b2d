"""Copies by Python libraries.

Each function has the arguments of `Tool.copy`: the row, the paths of source and target, and the memory limit in bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from plait_bench.copies.rows import ITEMSIZE, VARIABLE, Row


def copy_by_plait(row: Row, source: str, target: str, memory: int) -> None:
    """Copy by `plait.copy`."""
    import plait

    options: dict[str, Any] = {"target_order": row.target.order}
    if row.target.chunks:
        options = {"chunks": row.target.chunks, "codec": row.target.codec, "shards": row.target.shards}
    plait.copy(source, target, memory=memory, **options)


def _choose_windows(row: Row, memory: int) -> Iterator[tuple[slice, ...]]:
    """Yield the windows that Plait would choose for one pass, for libraries without windows of their own."""
    from plait._copying.boxes import choose_boxes, make_storage
    from plait._core import Content

    target = row.target
    whole_chunks = target.codec != "none" or target.shards is not None
    storage = make_storage(target.order, target.shards or target.chunks, whole_chunks)
    for window in choose_boxes(
        Content(row.shape, element_bytes=ITEMSIZE), row.source.storage, storage, memory
    ).windows():
        yield window.region


def _create_zarr(row: Row, target: str) -> Any:
    import zarr
    from zarr.codecs import BloscCodec, ZstdCodec

    name, level = row.target.codec_and_level
    codecs: dict[str, Callable[[], Any]] = {
        "none": lambda: None,
        "zstd": lambda: ZstdCodec(level=level),
        "blosc": lambda: BloscCodec(typesize=ITEMSIZE, cname="lz4", clevel=level, shuffle="shuffle"),
    }
    options: dict[str, Any] = {"chunks": row.target.chunks, "shards": row.target.shards, "compressors": codecs[name]()}
    return zarr.create_array(target, shape=row.shape, dtype="f4", **options)


def _open_source(row: Row, source: str) -> Any:
    """Return the source as an array that can be indexed."""
    if row.source.suffix == ".zarr":
        import zarr

        return zarr.open_array(source, mode="r")
    import h5py

    return h5py.File(source)[VARIABLE]


def _copy_by_windows(row: Row, source: str, target: str, memory: int) -> None:
    array = _open_source(row, source)
    if row.target.suffix == ".zarr":
        copy = _create_zarr(row, target)
        for region in _choose_windows(row, memory // 2):
            copy[region] = array[region]
        return
    import h5py

    with h5py.File(target, "w") as file:
        new = file.create_dataset(
            VARIABLE,
            row.shape,
            "f4",
            chunks=row.target.chunks,
            compression="gzip",
            compression_opts=row.target.codec_and_level[1],
        )
        for region in _choose_windows(row, memory // 2):
            new[region] = array[region]


def copy_by_zarr(row: Row, source: str, target: str, memory: int) -> None:
    """Copy by zarr-python, and by h5py for HDF5, window by window."""
    _copy_by_windows(row, source, target, memory)


def copy_by_zarrs_pipeline(row: Row, source: str, target: str, memory: int) -> None:
    """Copy by zarr-python, with zarrs compressing and decompressing its chunks."""
    import zarr
    import zarrs  # noqa: F401

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    _copy_by_windows(row, source, target, memory)


def copy_by_dask(row: Row, source: str, target: str, memory: int) -> None:
    """Copy by Dask's rechunking, which has no memory limit."""
    import dask.array

    arrays: Any = dask.array
    chunks = row.target.shards or row.target.chunks
    lazy = arrays.from_array(_open_source(row, source), chunks=row.source.chunks or _buffer_shape(row, memory // 8))
    arrays.store(lazy.rechunk(chunks), _create_zarr(row, target), lock=False)


def _buffer_shape(row: Row, budget: int) -> tuple[int, ...]:
    width = row.bytes // row.shape[0]
    return (max(1, budget // width), *row.shape[1:])


def copy_by_memory_map(row: Row, source: str, target: str, memory: int) -> None:
    """Copy by NumPy, through memory maps."""
    import numpy as np

    array: Any = np.load(source, mmap_mode="r")
    copy: Any = np.lib.format.open_memmap(target, "w+", "f4", row.shape, fortran_order=row.target.order == "F")
    copy[...] = array
    copy.flush()


def copy_by_tensorstore(row: Row, source: str, target: str, memory: int) -> None:
    """Copy by TensorStore: everything in one write, with a limited cache."""
    import tensorstore as ts

    context = {"cache_pool": {"total_bytes_limit": memory // 2}}
    base = {"driver": "zarr3", "context": context}
    array = ts.open({**base, "kvstore": {"driver": "file", "path": source}}, open=True).result()
    codecs: list[Any] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    if row.target.codec != "none":
        codecs.append({"name": "zstd", "configuration": {"level": row.target.codec_and_level[1]}})
    if row.target.shards:
        codecs = [{"name": "sharding_indexed", "configuration": {"chunk_shape": row.target.chunks, "codecs": codecs}}]
    grid = {"name": "regular", "configuration": {"chunk_shape": row.target.shards or row.target.chunks}}
    options = {"shape": row.shape, "data_type": "float32", "chunk_grid": grid, "codecs": codecs}
    copy = ts.open(
        {**base, "kvstore": {"driver": "file", "path": target}, "metadata": options}, create=True, delete_existing=True
    ).result()
    copy.write(array).result()


def core_count() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0))
