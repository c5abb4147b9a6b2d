"""The locations that a measurement reads and writes, and the content of its objects."""

from __future__ import annotations

import contextlib
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import numpy as np

import plait

ITEMSIZE = 8
_REMOVERS = 16
"""Number of objects that are removed concurrently."""


@dataclass(frozen=True)
class Target:
    """An array to read, as arguments of :func:`plait.open`."""

    url: str
    shape: int | None = None
    """The number of bytes, for an object without a known format, which is read as an array of bytes."""

    def open(self, **options: Any) -> Any:
        """Open the array for reading."""
        if self.shape is not None:
            options.update(shape=(self.shape,), dtype="u1")
        return plait.open(self.url, **options)


def is_web(url: str) -> bool:
    """Return True for an object of an HTTP server, which is only read."""
    return url.startswith(("http://", "https://"))


def append_to_url(url: str, name: str) -> str:
    """Return the location of `name` below an S3 URL; the URL's options move to between the bucket and the key."""
    location, _, query = url.partition("?")
    bucket, _, prefix = location.removeprefix("s3://").partition("/")
    options = f"?{query.replace('/', '%2F')}" if query else ""
    return f"s3://{bucket}{options}/" + "/".join(part for part in (*prefix.split("/"), name) if part)


def bucket_and_key(location: str) -> tuple[str, str, dict[str, str]]:
    """Return bucket, key and options of a location that :func:`append_to_url` has returned."""
    head, _, key = location.removeprefix("s3://").partition("/")
    bucket, _, query = head.partition("?")
    return bucket, key, {name: values[0] for name, values in parse_qs(query).items()}


def content(begin: int, end: int) -> np.ndarray[Any, np.dtype[Any]]:
    """Return elements `begin` to `end` of the content: all different, so that misplaced ones are noticed."""
    # The factor is odd, so that its products modulo 2^64 are distinct.
    return np.arange(begin, end, dtype="u8") * np.uint64(0x9E3779B97F4A7C15)


def find_target(url: str) -> Target:
    """Return the arguments with which to open an object of an HTTP server.

    errors  plait.Error: there is no such object, or it cannot be read
    """
    try:
        with plait.open(url):
            return Target(url)
    except plait.ArgumentError as error:
        size = _object_bytes(url)
        if size is None:
            raise
        target = Target(url, size)
        try:
            with target.open():
                return target
        except plait.Error:
            raise error from None  # the object has a known format, and the first error states what is wrong with it


def _object_bytes(url: str) -> int | None:
    """Return the size of an object, from the response to a request for its first byte; None if it is unknown."""
    request = urllib.request.Request(url, headers={"Range": "bytes=0-0"})
    with contextlib.suppress(OSError, ValueError), urllib.request.urlopen(request, timeout=30) as response:
        total = response.headers.get("Content-Range", "").rpartition("/")[2]
        return int(total or response.headers["Content-Length"] or "")
    return None


def remove_all(location: str) -> int:
    """Remove all objects below a location, and return their number.

    errors  plait.StoreError
    """
    from plait._core import open_objects

    objects = open_objects(location)
    names = objects.names()
    with ThreadPoolExecutor(_REMOVERS) as pool:
        list(pool.map(objects.remove, names))
    return len(names)
