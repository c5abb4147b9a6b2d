"""Records the arrays that a copy puts into a hierarchy in an object store, so that a failed copy can remove them.

Object stores have no rename: the arrays of a hierarchy appear one after another. Example: a copy puts ``ocean/depth``
into a hierarchy without groups. It records ``ocean`` and ``ocean/depth``, which do not exist. If it fails later, it
removes the objects of ``ocean/depth``, and the metadata of ``ocean`` unless another program has put an array into it.
"""

from __future__ import annotations

import contextlib
import json

from ... import _core
from ..._file.location import locate_new

_METADATA = ("zarr.json", ".zarray", ".zgroup")


class ObjectAdditions:
    """Arrays that a copy adds to a hierarchy."""

    def __init__(self, hierarchy: str) -> None:
        """Begin a copy.  hierarchy: the name of the hierarchy"""
        self._url = locate_new(hierarchy).location
        self._open: list[str] = []
        """New arrays whose files are open; closing them after an error discards them."""
        self._arrays: list[str] = []
        """New arrays that are visible."""
        self._groups: list[str] = []
        """Names of the new groups, each after the groups that contain it."""

    def record(self, name: str) -> None:
        """Record an array before its file is opened."""
        parts = [part for part in name.split("/") if part]
        above = ["/".join(parts[:count]) for count in range(len(parts))]
        self._groups += [path for path in above if path not in self._groups and not self._exists(path)]
        if not self._exists("/".join(parts)):
            self._open.append("/".join(parts))

    def add(self) -> None:
        """Record that the open arrays have been closed without an error, and are therefore visible."""
        self._arrays += self._open
        self._open.clear()

    def remove(self) -> None:
        """Remove the recorded arrays and groups; groups stay if other programs have put an array into them."""
        for path in self._arrays:
            self._remove(path)
        for path in reversed(self._groups):
            objects = self._objects(path)
            if all(_describes_group(objects.get(name)) for name in objects.names()):
                self._remove(path)

    def _remove(self, path: str) -> None:
        objects = self._objects(path)
        # Remove metadata first: an array without metadata does not exist for other programs, an array without some
        # chunks would appear to have fill values.
        for name in sorted(objects.names(), key=lambda name: name not in _METADATA):
            objects.remove(name)

    def _objects(self, path: str) -> _core.ObjectStore:
        return _core.open_objects(f"{self._url}/{path}" if path else self._url)

    def _exists(self, path: str) -> bool:
        objects = self._objects(path)
        return any(objects.get(name) is not None for name in _METADATA)


def _describes_group(content: bytes | None) -> bool:
    with contextlib.suppress(ValueError, RecursionError):
        metadata = json.loads(content or b"")
        return isinstance(metadata, dict) and metadata.get("node_type") == "group"
    return False
