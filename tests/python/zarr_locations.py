"""The locations of Zarr arrays in tests: a folder, and object stores in memory and on a server (s3_server.py).

A test that takes the fixture ``location`` runs in each of them. It writes ``location / "a.zarr"`` as with a path,
passes that to Plait, and ``zarr_store(location / "a.zarr")`` to zarr-python, which reads and writes the same objects.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

from plait import _core


class MemoryPath(os.PathLike[str]):
    """A URL below ``memory://`` or ``s3://``, with the methods of paths that tests use."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __fspath__(self) -> str:
        return self._url

    def __str__(self) -> str:
        return self._url

    def __truediv__(self, name: str) -> MemoryPath:
        return MemoryPath(f"{self._url}/{name}")

    def _object(self) -> tuple[_core.ObjectStore, str]:
        folder, _, name = self._url.rpartition("/")
        return _core.open_objects(folder), name

    def read_bytes(self) -> bytes:
        objects, name = self._object()
        content = objects.get(name)
        if content is None:
            raise FileNotFoundError(self._url)
        return content

    def write_bytes(self, content: bytes) -> None:
        objects, name = self._object()
        objects.put(name, bytes(content))

    def read_text(self) -> str:
        return self.read_bytes().decode()

    def write_text(self, content: str) -> None:
        self.write_bytes(content.encode())

    def names(self) -> list[str]:
        return _core.open_objects(self._url).names()

    def exists(self) -> bool:
        objects, name = self._object()
        return objects.get(name) is not None or bool(self.names())

    def clear(self) -> None:
        objects = _core.open_objects(self._url)
        for name in objects.names():
            objects.remove(name)


Location = Path | MemoryPath


class _Objects(MutableMapping[str, Any]):
    """The objects below a URL as a mapping, which zarr-python's MemoryStore accepts."""

    def __init__(self, url: str) -> None:
        self._objects = _core.open_objects(url)

    def __getitem__(self, name: str) -> Any:
        from zarr.core.buffer import default_buffer_prototype

        content = self._objects.get(name)
        if content is None:
            raise KeyError(name)
        return default_buffer_prototype().buffer.from_bytes(content)

    def __setitem__(self, name: str, content: Any) -> None:
        self._objects.put(name, content.to_bytes())

    def __delitem__(self, name: str) -> None:
        self._objects.remove(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._objects.names())

    def __len__(self) -> int:
        return len(self._objects.names())


def zarr_store(path: Location) -> Any:
    """Return the store that zarr-python opens to read and write the same files or objects."""
    if isinstance(path, Path):
        return path
    from zarr.storage import MemoryStore

    return MemoryStore(_Objects(str(path)))


def entries(path: Location) -> list[str]:
    """Return the names in a folder, or the first parts of those below a URL, sorted."""
    return sorted(os.listdir(path) if isinstance(path, Path) else {name.partition("/")[0] for name in path.names()})


def version(path: Location) -> object:
    """Return a value that changes when a file is replaced; for an object in memory its content."""
    return path.stat().st_ino if isinstance(path, Path) else path.read_bytes()
