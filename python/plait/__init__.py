"""Plait, the Parallel Layout-Aware I/O Toolkit: distributed arrays between programs and disks, in any layout.

Only the error classes are imported with the package; the other names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from ._base import forks as _forks  # noqa: F401 - it must see every fork from now on
from ._base.errors import ArgumentError, Error, StoreError
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import config as config
    from . import distant as distant
    from . import draw as draw
    from . import launch as launch
    from . import model as model
    from . import notations as notations
    from . import patterns as patterns
    from . import shared as shared
    from . import simulate as simulate
    from . import trace as trace
    from ._arguments.recycled import set_recycled_memory
    from ._calls.comm import Comm, world
    from ._calls.request import Request
    from ._copying import CopyResult, copy
    from ._copying.parts import (
        CopyTask,
        CopyTasks,
        PartResult,
        copy_tasks,
        discard_copy,
        finish_copy,
        run_task,
    )
    from ._core import BitPermutation, Conversion, IndexSet, Layout, Message, compose
    from ._file.arrays_in import ArrayInfo, DimensionInfo, GroupInfo, arrays_in, groups_in
    from ._file.attributes import Attributes, FileAttributes
    from ._file.file import File
    from ._file.open import open
    from ._file.pipes import PipeStatus, pipe_names, pipe_status
    from ._file.steps import Step
    from ._file.stream import Stream
    from ._redistribution.redistribute import Redistribution, empty, iredistribute, redistribute
    from ._views.joined import Concatenation, concat
    from ._views.joined_files import JoinedFiles, open_many
    from .notations._indirect import indirect
    from .notations._relabel import relabel, same_up_to_ranks
else:
    from ._base.later import later as _later

    __getattr__, __dir__ = _later(
        __name__,
        {
            "_calls.comm": ["Comm", "world"],
            "_core": ["BitPermutation", "Conversion", "IndexSet", "Layout", "Message", "compose"],
            "_file.file": ["File"],
            "notations._indirect": ["indirect"],
            "_file.open": ["open"],
            "_redistribution.redistribute": ["Redistribution", "empty", "iredistribute", "redistribute"],
            "_calls.request": ["Request"],
            "_file.steps": ["Step"],
            "_file.stream": ["Stream"],
        },
        {"_arguments.recycled": ["set_recycled_memory"]},
        {
            "_file.arrays_in": ["ArrayInfo", "DimensionInfo", "GroupInfo", "arrays_in", "groups_in"],
            "_file.attributes": ["Attributes", "FileAttributes"],
        },
        {"_copying": ["CopyResult", "copy"]},
        {
            "_copying.parts": [
                "CopyTask",
                "CopyTasks",
                "PartResult",
                "copy_tasks",
                "discard_copy",
                "finish_copy",
                "run_task",
            ]
        },
        {"_views.joined": ["Concatenation", "concat"]},
        {"_views.joined_files": ["JoinedFiles", "open_many"]},
        {"_file.pipes": ["PipeStatus", "pipe_names", "pipe_status"]},
        {"notations._relabel": ["relabel", "same_up_to_ranks"]},
        submodules=[
            "config",
            "distant",
            "draw",
            "launch",
            "model",
            "notations",
            "patterns",
            "shared",
            "simulate",
            "trace",
        ],
    )

__all__ = [
    "ArgumentError",
    "ArrayInfo",
    "Attributes",
    "BitPermutation",
    "Comm",
    "Concatenation",
    "Conversion",
    "CopyResult",
    "CopyTask",
    "CopyTasks",
    "DimensionInfo",
    "Error",
    "File",
    "FileAttributes",
    "GroupInfo",
    "IndexSet",
    "JoinedFiles",
    "Layout",
    "Message",
    "PartResult",
    "PipeStatus",
    "Redistribution",
    "Request",
    "Step",
    "StoreError",
    "Stream",
    "arrays_in",
    "compose",
    "concat",
    "copy",
    "copy_tasks",
    "discard_copy",
    "empty",
    "finish_copy",
    "groups_in",
    "indirect",
    "iredistribute",
    "open",
    "open_many",
    "pipe_names",
    "pipe_status",
    "redistribute",
    "relabel",
    "run_task",
    "same_up_to_ranks",
    "set_recycled_memory",
    "world",
]
