from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

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
