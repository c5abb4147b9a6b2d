"""The intermediate array between two passes of a copy: a file next to the target, which is removed in any case."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._base.errors import Error
from .._calls.comm import CommLike
from .._core import Layout
from .._file.file import File
from .._file.location import local_path
from .._file.open import UnfinishedPolicy, open
from .names import array_part
from .resume.journal import Entry, scratch_key
from .steps import Region, StepArray


class IntermediateFile:
    """The intermediate array, which is the target of the first pass and the source of the second one."""

    def __init__(self, file: File) -> None:
        """Wrap the file of the array."""
        self._file = file

    def write(self, array: StepArray, layout: Layout, given: Any, region: Region) -> None:
        """Write a window."""
        self._file.write(given, layout, region=region)

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read a window."""
        self._file.read(layout, out, region=region)


@dataclass(frozen=True)
class Scratch:
    """Makes intermediate arrays next to a target."""

    comm: CommLike
    memory: int
    """Bytes for the staging of an intermediate array."""
    target: str
    """The name of the target."""

    def can_serve(self, array: StepArray) -> bool:
        """Return True if an array can have an intermediate one: it has numbers, and the target is a local file."""
        return array.dtype.kind in "biufc" and local_path(self.target) is not None

    @contextmanager
    def open(self, array: StepArray, chunks: tuple[int, ...], entry: Entry | None = None) -> Iterator[IntermediateFile]:
        """Make an intermediate array under a temporary name only: the next copy removes it if this process is killed.

        entry  the array's entry in the journal of a resumable copy; if that copy is interrupted, the intermediate array
               stays for the next copy. None if the copy cannot be resumed
        """
        path = local_path(self.target)
        assert path is not None
        root = next((folder for folder in (path, *path.parents) if folder.suffix == ".zarr"), path)
        part = array_part(self.target)
        name = str(Path(root.parent) / f"{root.name}{'%' + part if part else ''}.scratch.zarr")

        def make(unfinished: UnfinishedPolicy) -> File:
            return open(
                name,
                "w",
                comm=self.comm,
                shape=array.shape,
                dtype=array.dtype,
                order="F" if array.order == "F" else "C",
                chunks=chunks,
                memory=self.memory,
                unfinished=unfinished,
            )

        if entry is not None:
            file = entry.journal.enter_scratch(entry.key, name, make)
            try:
                yield IntermediateFile(file)
            except BaseException:
                with suppress(Error):
                    file._core.abandon("the copy was interrupted")
                raise
            entry.journal.discard(scratch_key(entry.key))  # it is removed, as the second pass is complete
            return
        file = make("remove")
        try:
            yield IntermediateFile(file)
        finally:
            with suppress(Error):  # the file has failed on another rank, which removes it
                file._core.abandon("it was no longer needed")
