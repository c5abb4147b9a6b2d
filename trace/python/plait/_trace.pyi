from collections.abc import Callable, Sequence
from enum import IntEnum, IntFlag
from typing import Any

import numpy
import numpy.typing

class Kind(IntEnum):
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

class Interface(IntEnum):
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
    HTTP = 13

class Flag(IntFlag):
    META_DATA = 1
    READ_AHEAD = 2
    VIRTUAL_MEMORY = 3
    DATA_TYPE = 3
    ASYNCHRONOUS = 8
    READ_AHEAD_HIT = 16
    CACHE_MISS = 32
    LOGICAL = 128
    DIRECT = 256
    COLLECTIVE = 512
    AT_POSITION = 1024
    CREATE = 2048
    READ_ONLY = 4096
    APPEND = 8192
    DURABLE = 16384

KIND_NAMES: list[str]

INTERFACE_NAMES: list[str]

class TraceReader:
    def read(self, count: int) -> numpy.typing.NDArray[numpy.void]: ...
    @property
    def description(self) -> dict[str, Any]: ...
    def processes_after(self, count: int) -> list[tuple[int, int, int, str, str, int]]: ...
    def files_after(self, count: int) -> list[tuple[int, int, str]]: ...
    @property
    def bytes_read(self) -> int: ...
    @property
    def bytes_in_all(self) -> int: ...
    def close(self) -> None: ...

class TraceWriter:
    def add_process(self, number: int, parent: int, rank: int, host: str, command: str, cpu: int) -> None: ...
    def add_file(self, process: int, number: int, name: str) -> None: ...
    def write(self, events: numpy.typing.NDArray[numpy.void]) -> None: ...
    def finish(
        self,
        zero: int,
        tick: int,
        complete: bool,
        missed: list[tuple[str, int, int, int]],
        counters: list[tuple[int, int, int, int, dict[str, int]]],
        notes: list[str],
    ) -> None: ...
    @property
    def bytes_written(self) -> int: ...
    @property
    def lost(self) -> list[str]: ...
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
def name_other_formats(names: Sequence[str]) -> None: ...
def trace_report(
    path: str,
    *,
    format: str = "",
    base: int = 0,
    separator: str = "",
    comment: str = "",
    tick: int = 0,
    block: int = 512,
    shown: str = "",
    logical: bool | None = None,
    cpu: bool = False,
    file: str = "",
    include: list[str] = [],
    exclude: list[str] = [],
    all: bool = False,
    process: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]: ...
def foreign_file(name: str) -> str: ...
def workloads() -> list[dict[str, Any]]: ...
def time_calls(call: str, path: str, size: int, count: int) -> float: ...
