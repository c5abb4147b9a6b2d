"""Plait, the Parallel Layout-Aware I/O Toolkit: distributed arrays between programs and disks, in any layout."""

from importlib.metadata import version as _version

from ._comm import Comm, world
from ._copying import Copied, copy
from ._core import BitPermutation, Conversion, IndexSet, Layout, Message, compose
from ._errors import ArgumentError, Error, StoreError
from ._file import File
from ._indirect import indirect
from ._open import open
from ._pipes import PipeStatus, pipe_names, pipe_status
from ._redistribute import Redistribution, empty, iredistribute, redistribute
from ._relabel import relabel, same_up_to_ranks
from ._request import Request
from ._steps import Step
from ._stream import Stream

__version__ = _version("plait")
__all__ = [
    "ArgumentError",
    "BitPermutation",
    "Comm",
    "Conversion",
    "Copied",
    "Error",
    "File",
    "IndexSet",
    "Layout",
    "Message",
    "PipeStatus",
    "Redistribution",
    "Request",
    "Step",
    "StoreError",
    "Stream",
    "compose",
    "copy",
    "empty",
    "indirect",
    "iredistribute",
    "open",
    "pipe_names",
    "pipe_status",
    "redistribute",
    "relabel",
    "same_up_to_ranks",
    "world",
]
