"""Rechunks maps into time series: in parts by processes or by workers of Dask, and by Dask's own P2P rechunk.

Each function may use all processor cores, and starts its processes within the measured time.
"""

from __future__ import annotations

import importlib
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import plait
from plait_bench.joins.maps import CODEC, series_chunks

_DASK_WORKERS = 8


def _begin_copy(source: Path, target: Path) -> Any:
    """Return the tasks of a copy in parts."""
    with plait.open(source) as file:
        shape = file.shape
    chunks = series_chunks((shape[0], shape[1], shape[2]))
    # One part per chunk along time, so that no two parts decode the same map.
    parts = -(-shape[0] // chunks[0])
    return plait.copy_tasks(source, target, parts=parts, chunks=chunks, codec=CODEC)


def copy_in_parts(source: Path, target: Path) -> None:
    """Copy in parts, by one process per core."""
    tasks = _begin_copy(source, target)
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for phase in tasks.phases:
            for _ in pool.map(plait.run_task, phase):
                pass
    plait.finish_copy(tasks)


def copy_parts_by_distributed(source: Path, target: Path) -> None:
    """Copy in parts, by workers of Dask."""
    distributed: Any = importlib.import_module("distributed")
    tasks = _begin_copy(source, target)
    with (
        distributed.LocalCluster(n_workers=_DASK_WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        for phase in tasks.phases:
            client.gather(client.map(plait.run_task, phase, pure=False))
    plait.finish_copy(tasks)


def rechunk_by_dask(source: Path, target: Path) -> None:
    """Rechunk by Dask's P2P method, with one worker per core."""
    import zarr
    from zarr.codecs import ZstdCodec

    dask: Any = importlib.import_module("dask")
    arrays: Any = importlib.import_module("dask.array")
    distributed: Any = importlib.import_module("distributed")
    maps = arrays.from_zarr(str(source))
    chunks = series_chunks(maps.shape)
    with (
        distributed.LocalCluster(n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        dask.config.set({"array.rechunk.method": "p2p"}),
    ):
        array = zarr.create_array(
            target, shape=maps.shape, dtype=maps.dtype, chunks=chunks, compressors=ZstdCodec(level=1)
        )
        arrays.store(maps.rechunk(chunks), array, lock=False)
