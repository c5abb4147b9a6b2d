"""The state of pipes, for programs that neither write nor read them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._arguments.array_types import element_dtype
from .._arguments.buffers import to_path_text
from .._base.errors import naming_file
from .._calls.guard import call, collective_errors, fail_here
from .steps import Attribute


@dataclass(frozen=True)
class PipeProgram:
    """The program at one end of a pipe.

    name     as the system reports it
    process  the process id of its rank 0
    host     the host on which its rank 0 runs
    ranks    the number of its ranks
    """

    name: str
    process: int
    host: str
    ranks: int


@dataclass(frozen=True)
class PipeReader:
    """A program that reads, and the number of the first step that it has not finished reading."""

    program: PipeProgram
    next_step: int


@dataclass(frozen=True)
class PipeVariable:
    """An array of the newest step, and the layout in which the writer's ranks hold it, as text."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    layout: str


@dataclass(frozen=True)
class PipeStatus:
    """The programs at a pipe, its queue and its newest step, at one moment."""

    name: str
    folder: str
    """The folder in which the writer and the readers find each other."""
    writer: PipeProgram
    shape: tuple[int, ...]
    """The shape of the array for which the pipe was opened."""
    dtype: np.dtype[Any]
    readers: tuple[PipeReader, ...]
    steps: int
    """Number of steps written so far."""
    queued: int
    """Number of steps in the queue now."""
    queue: int
    """Number of steps that the queue holds at most."""
    dropped: int
    """Number of steps dropped unread, because of ``drop=oldest``."""
    bytes: int
    """Bytes of the arrays of all steps so far."""
    newest: int | None
    """The number of the newest step; None if there has been none."""
    attributes: dict[str, Attribute]
    """The attributes of the newest step."""
    variables: tuple[PipeVariable, ...]


def pipe_status(url: str | os.PathLike[str]) -> PipeStatus:
    """Return the state of the pipe ``pipe:NAME``, as its writer reports it, without becoming a reader. Not collective.

    Waits for the answer for the ``timeout=`` in the name, but at most ten seconds; does not wait for a writer to open
    the pipe. Raises plait.StoreError that is also a FileNotFoundError if no program writes to the pipe, another
    StoreError if the writer does not answer, and plait.ArgumentError if the name is not that of a pipe.
    """
    with collective_errors(fail_here):
        path = to_path_text(url)
    with naming_file(path):
        status = call(fail_here, _core.pipe_status, path)
    return PipeStatus(
        status.name,
        status.folder,
        _to_program(status.writer),
        status.type.shape,
        element_dtype(status.type),
        tuple(PipeReader(_to_program(reader.program), reader.next_step) for reader in status.readers),
        status.steps,
        status.queued,
        status.queue,
        status.dropped,
        status.bytes,
        status.newest,
        dict(status.attributes),
        tuple(
            PipeVariable(variable.name, variable.type.shape, element_dtype(variable.type), variable.layout)
            for variable in status.variables
        ),
    )


def pipe_names() -> list[str]:
    """Return the names of the pipes that have a writer, in the folder where the programs of this user meet.

    Not collective. Raises plait.StoreError if the folder does not exist, or if other users may read it.
    """
    return list(call(fail_here, _core.pipe_names))


def _to_program(program: _core.PipeProgram) -> PipeProgram:
    return PipeProgram(program.name, program.process, program.host, program.processes)
