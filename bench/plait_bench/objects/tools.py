"""Programs that read the chunks of one Zarr array from S3."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import plait
from plait_bench.objects.location import bucket_and_key

PLAIT = "plait"
_REQUESTS_IN_FLIGHT = 64  # of obstore, at a time; as many as Plait has connections by default
Read = Callable[[], Any]
"""A function that reads the whole array and returns it."""


@dataclass(frozen=True)
class ReadingTool:
    """A library that reads a Zarr array."""

    prepare: Callable[[str, int, int], Read]
    """Takes a location, the elements of the array and those of a chunk. Returns the function that reads the array."""
    module: str

    @property
    def missing(self) -> str:
        """The name of the module if it is not installed; empty if the tool can run."""
        return "" if importlib.util.find_spec(self.module) is not None else self.module


def _endpoint(options: dict[str, str]) -> str | None:
    return options.get("endpoint") or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")


def _region(options: dict[str, str]) -> str:
    return options.get("region") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"


def _plait(url: str, elements: int, chunk: int) -> Read:
    def read() -> Any:
        with plait.open(url) as file:
            return file.read()

    return read


def _obstore(url: str, elements: int, chunk: int) -> Read:
    import obstore

    bucket, key, options = bucket_and_key(url)
    settings: dict[str, Any] = {"region": _region(options), "client_options": {"allow_http": True}}
    if endpoint := _endpoint(options):
        settings["endpoint"] = endpoint
    if options.get("anonymous") == "true":
        settings["skip_signature"] = True
    store = obstore.store.S3Store(bucket, virtual_hosted_style_request=_endpoint(options) is None, **settings)

    async def read() -> Any:
        array = np.empty(elements, "u8")
        slots = asyncio.Semaphore(_REQUESTS_IN_FLIGHT)

        async def read_chunk(number: int) -> None:
            async with slots:
                response = await obstore.get_async(store, f"{key}/c/{number}")
                values: Any = np.frombuffer(memoryview(await response.bytes_async()), "u8")
                # Zarr stores the last chunk in full length, even if the array ends within it.
                array[number * chunk : (number + 1) * chunk] = values[: elements - number * chunk]

        await asyncio.gather(*(read_chunk(number) for number in range(-(-elements // chunk))))
        return array

    return lambda: asyncio.run(read())


def _tensorstore(url: str, elements: int, chunk: int) -> Read:
    import tensorstore

    bucket, key, options = bucket_and_key(url)
    store: dict[str, Any] = {"driver": "s3", "bucket": bucket, "path": f"{key}/", "aws_region": _region(options)}
    if endpoint := _endpoint(options):
        store["endpoint"] = endpoint
    if options.get("anonymous") == "true":
        store["aws_credentials"] = {"type": "anonymous"}
    return lambda: tensorstore.open({"driver": "zarr3", "kvstore": store}).result().read().result()


TOOLS = {
    PLAIT: ReadingTool(_plait, "plait"),
    "obstore": ReadingTool(_obstore, "obstore"),
    "TensorStore": ReadingTool(_tensorstore, "tensorstore"),
}
