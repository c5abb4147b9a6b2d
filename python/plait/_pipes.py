"""Pipes as somebody sees who neither writes nor reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._arguments.array_types import type_of
from ._arguments.buffers import path_of
from ._errors import naming
from ._guard import call, checks, refuse_here
from ._steps import Attribute


@dataclass(frozen=True)
class PipeProgram:
    """One end of a pipe: the program, the number of its process of rank 0, the host of that, and how many ranks."""

    name: str
    process: int
    host: str
    ranks: int


@dataclass(frozen=True)
class PipeReader:
    """A program that reads, and the first step that it has not read whole."""

    program: PipeProgram
    next_step: int


@dataclass(frozen=True)
class PipeVariable:
    """An array of the newest step, and the layout in which the writer's ranks hold it."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    layout: str


@dataclass(frozen=True)
class PipeStatus:
    """Who is there and what flows, at one moment."""

    name: str
    folder: str
    """In which programs meet."""
    writer: PipeProgram
    shape: tuple[int, ...]
    """Of the array that the pipe was opened for."""
    dtype: np.dtype[Any]
    readers: tuple[PipeReader, ...]
    steps: int
    """That have been written."""
    held: int
    """Of them, in the queue."""
    queue: int
    """That it holds at most."""
    dropped: int
    """Unread, by drop=oldest."""
    bytes: int
    """Of the arrays of all steps so far."""
    newest: int | None
    """The number of the newest step; None where there has been none."""
    attributes: dict[str, Attribute]
    """Of the newest step."""
    variables: tuple[PipeVariable, ...]


def pipe_status(url: str | os.PathLike[str]) -> PipeStatus:
    """Ask the writer of a pipe, ``pipe:NAME``, who is there and what flows, without becoming a reader.

    Waits for its answer for as long as ``timeout=`` says, ten seconds at most, and not for a writer to come.
    Raises plait.StoreError, a FileNotFoundError, where nobody writes to it, and plait.ArgumentError for a name that
    cannot be.
    """
    with checks(refuse_here):
        path = path_of(url)
    with naming(path):
        found = call(refuse_here, _core.pipe_status, path)
    return PipeStatus(
        found.name,
        found.folder,
        _program(found.writer),
        tuple(found.shape),
        type_of(found.dtype, found.element_bytes),
        tuple(PipeReader(_program(reader.program), reader.next_step) for reader in found.readers),
        found.steps,
        found.held,
        found.queue,
        found.dropped,
        found.bytes,
        found.newest,
        dict(found.attributes),
        tuple(
            PipeVariable(one.name, tuple(one.shape), type_of(one.dtype, one.element_bytes), one.layout)
            for one in found.variables
        ),
    )


def pipe_names() -> list[str]:
    """Return the names of the pipes that have a writer, in the folder where the programs of this user meet.

    Raises plait.StoreError where there is no such folder, or others may look into it.
    """
    return list(call(refuse_here, _core.pipe_names))


def _program(found: _core.PipeProgram) -> PipeProgram:
    return PipeProgram(found.name, found.process, found.host, found.processes)
