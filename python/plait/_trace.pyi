import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

class Kind(enum.IntEnum):
    READ = 0
    WRITE = 1
    OPEN = 2
    CLOSE = 3
    SEEK = 4
    TRUNCATE = 5
    SYNC = 6
    DUPLICATE = 7
    MAP = 8
    UNMAP = 9
    METADATA = 10
    START = 11
    FORK = 12
    EXEC = 13
    EXIT = 14
    PHASE = 15

class Interface(enum.IntEnum):
    UNKNOWN = 0
    POSIX = 1
    VECTOR = 2
    STDIO = 3
    MMAP = 4
    COPY = 5
    AIO = 6
    POSIX_AIO = 7
    URING = 8
    MPI_IO = 9
    PLAIT = 10
    BLOCK = 11
    LOADER = 12

class Flag(enum.IntFlag):
    META_DATA = 0x01
    READ_AHEAD = 0x02
    VIRTUAL_MEMORY = 0x03
    DATA_TYPE = 0x03
    ASYNCHRONOUS = 0x08
    READ_AHEAD_HIT = 0x10
    CACHE_MISS = 0x20
    LOGICAL = 0x80
    DIRECT = 0x100
    COLLECTIVE = 0x200
    AT_POSITION = 0x400
    CREATE = 0x800
    READ_ONLY = 0x1000
    APPEND = 0x2000

KIND_WORDS: list[str]
INTERFACE_WORDS: list[str]

class TraceReader:
    description: dict[str, Any]
    bytes_read: int
    bytes_in_all: int
    def read(self, count: int) -> npt.NDArray[np.void]: ...
    def processes_behind(self, count: int) -> list[tuple[int, int, int, str, str, int]]: ...
    def files_behind(self, count: int) -> list[tuple[int, int, str]]: ...
    def close(self) -> None: ...

class TraceWriter:
    bytes_written: int
    lost: list[str]
    def add_process(self, number: int, parent: int, rank: int, host: str, command: str, cpu: int) -> None: ...
    def add_file(self, process: int, number: int, name: str) -> None: ...
    def write(self, events: npt.NDArray[np.void]) -> None: ...
    def finish(
        self,
        zero: int,
        tick: int,
        complete: bool,
        missed: list[tuple[str, int, int, int]],
        counters: list[tuple[int, int, int, int, dict[str, int]]],
        notes: list[str],
    ) -> None: ...
    def close(self) -> None: ...

def open_trace(
    path: str,
    format: str,
    base: int,
    separator: str,
    comment: str,
    tick: int,
    block: int,
    columns: str,
    begin: int | None,
    end: int | None,
    shown: str,
) -> TraceReader: ...
def create_trace(
    path: str, format: str, base: int, separator: str, comment: str, tick: int, block: int, plain: bool
) -> TraceWriter: ...
def copy_events(source: TraceReader, target: TraceWriter, progress: Callable[[int, int], None] | None) -> int: ...
def copy_trace(source: TraceReader, target: TraceWriter) -> int: ...
def trace_formats() -> list[tuple[str, str, bool, bool]]: ...
def trace_report(
    path: str,
    *,
    format: str = ...,
    base: int = ...,
    separator: str = ...,
    comment: str = ...,
    tick: int = ...,
    block: int = ...,
    shown: str = ...,
    logical: bool | None = ...,
    cpu: bool = ...,
    file: str = ...,
    include: list[str] = ...,
    exclude: list[str] = ...,
    all: bool = ...,
    process: int | None = ...,
    progress: Callable[[int, int], None] | None = ...,
) -> dict[str, Any]: ...
def workloads() -> list[dict[str, Any]]: ...
def time_calls(call: str, path: str, size: int, count: int) -> float: ...
