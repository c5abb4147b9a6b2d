"""The measurements of `plait bench plan`: the time and the memory of planning one rank's messages."""

from __future__ import annotations

import ctypes
import gc
import math
import re
import statistics
import time
import tracemalloc
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import plait
from plait_bench.machine import describe_machine
from plait_bench.plan.cases import PlanCase, cases, pieces_of_period
from plait_bench.plan.naive import enumerate_blocks, enumerate_elements
from plait_bench.steps import Progress

_MIN_BATCH_SECONDS = 1e-3  # minimum duration of a sample, which consists of several calls, in seconds
_MAX_SAMPLE_SECONDS = 3.0  # total seconds of samples after which a case gets no further samples
_MAX_CHECKED = 128  # maximum number of ranks whose messages are checked


@dataclass(frozen=True)
class PlanSettings:
    """The parameters of the measurements."""

    rounds: int = 7
    """Samples of each case; fewer if a call takes seconds. Each sample has as many calls as take a millisecond."""
    quick: bool = False
    """True to leave out cases that take more than a second."""


@dataclass(frozen=True)
class PlanResult:
    """One conversion, planned by one rank.

    Times are seconds of processor time for one call. Planning never waits, so that processor time is complete; other
    programs on the machine hardly affect it.
    """

    case: PlanCase
    samples: list[float]
    """Times of Conversion.sends(rank)."""
    composing: float
    """Time of parsing both layouts and composing them."""
    messages: int
    elements: int
    runs: int
    pieces: int | None
    """Stretches of one common period, or of the whole array if that is shorter; None if they are not counted."""
    python_bytes: int
    """Peak memory of Python's allocations during the call, as tracemalloc measures it."""
    resident_bytes: int
    """Growth of the process's peak resident memory during the call."""
    exact: bool
    """True if the messages have each element of the rank once, and agree with the enumeration if there is one."""
    by_elements: float | None = None
    by_blocks: float | None = None

    @property
    def seconds(self) -> float:
        """Median of the samples."""
        return statistics.median(self.samples)

    @property
    def best(self) -> float:
        """The time of the fastest sample, which other activity of the machine has disturbed least."""
        return min(self.samples)

    @property
    def memory(self) -> int:
        """Peak memory of planning, in bytes."""
        return max(self.python_bytes, self.resident_bytes)


@dataclass(frozen=True)
class PlanResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    results: list[PlanResult]

    def find_wrong_data(self) -> list[PlanResult]:
        """Return the cases whose messages are wrong."""
        return [result for result in self.results if not result.exact]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        cases_json = [{**asdict(result), "seconds": result.seconds} for result in self.results]
        return {"machine": self.machine, "settings": self.settings, "cases": cases_json}


def run_plan(settings: PlanSettings, progress: Progress = lambda text, share: None) -> PlanResults:
    """Plan every case."""
    all_cases = cases(settings.quick)
    results = []
    for number, case in enumerate(all_cases):
        progress(f"{case.series}, {case.at:.0e}", number / len(all_cases) * 0.8)
        results.append(plan(case, 1))
    # The rounds of a case are far apart, so that a temporary disturbance affects only one of its samples.
    for number in range(1, settings.rounds):
        progress(f"round {number + 1}", 0.8 + 0.2 * number / settings.rounds)
        for result in results:
            if sum(result.samples) < _MAX_SAMPLE_SECONDS:
                conversion = result.case.conversion()
                result.samples.extend(_take_samples(conversion, _middle_rank(conversion.source), 1))
    machine = describe_machine(Path.cwd())
    machine.pop("file system")
    return PlanResults(machine, asdict(settings), results)


def plan(case: PlanCase, rounds: int) -> PlanResult:
    """Plan one case, and take `rounds` samples of the time."""
    begin = time.thread_time()
    conversion = case.conversion()
    composing = time.thread_time() - begin
    source = conversion.source
    rank = _middle_rank(source)
    python_bytes, resident_bytes = _measure_memory(conversion, rank)
    samples = _take_samples(conversion, rank, rounds)
    messages = conversion.sends(rank)
    naive = enumerate_elements(case, rank) if case.naive else None
    exact = _is_correct(conversion, rank, messages)
    if naive is not None:
        exact = exact and naive[1] == {message.rank: (message.elements, message.runs) for message in messages}
    return PlanResult(
        case=case,
        samples=samples,
        composing=composing,
        messages=len(messages),
        elements=sum(message.elements for message in messages),
        runs=sum(message.runs for message in messages),
        pieces=_count_pieces(case, rank, messages),
        python_bytes=python_bytes,
        resident_bytes=resident_bytes,
        exact=exact,
        by_elements=naive[0] if naive is not None else None,
        by_blocks=enumerate_blocks(case, rank) if case.naive else None,
    )


def _middle_rank(layout: plait.Layout) -> int:
    return int(layout.rank_numbers[layout.size // 2])


def _is_correct(conversion: plait.Conversion, rank: int, messages: list[plait.Message]) -> bool:
    """Return True if each element is sent once to each replica, and receivers expect exactly what is sent to them.

    If the source has many ranks, only the elements that `rank` sends are counted. Of many receivers, only the first
    ones are checked.
    """
    source, target = conversion.source, conversion.target
    begin = time.perf_counter()
    for message in messages[:_MAX_CHECKED]:
        if time.perf_counter() - begin > _MAX_SAMPLE_SECONDS:
            break
        expected = [other for other in conversion.receives(message.rank) if other.rank == rank]
        if [(other.elements, other.runs) for other in expected] != [(message.elements, message.runs)]:
            return False
    owned = plait.compose(source, target)
    if source.size <= _MAX_CHECKED:
        sent = sum(message.elements for sender in source.rank_numbers for message in owned.sends(int(sender)))
        return sent == source.elements * target.replicas
    return sum(message.elements for message in owned.sends(rank)) == math.prod(source.local_shape(rank))


def _count_pieces(case: PlanCase, rank: int, messages: list[plait.Message]) -> int | None:
    if case.cyclic is None:
        return None
    period, pieces = pieces_of_period(case.cyclic, rank)
    return pieces if case.at >= period else sum(message.runs for message in messages)


def _take_samples(conversion: plait.Conversion, rank: int, rounds: int) -> list[float]:
    """Return the processor time of one call, measured over batches of calls."""
    begin = time.thread_time()
    conversion.sends(rank)
    first_call = time.thread_time() - begin
    if first_call > _MAX_SAMPLE_SECONDS:
        return [first_call]
    calls = max(1, math.ceil(_MIN_BATCH_SECONDS / max(first_call, 1e-7)))
    samples: list[float] = []
    total = 0.0
    gc.disable()
    try:
        while len(samples) < rounds and total < _MAX_SAMPLE_SECONDS:
            begin = time.thread_time()
            for _ in range(calls):
                conversion.sends(rank)
            seconds = time.thread_time() - begin
            samples.append(seconds / calls)
            total += seconds
    finally:
        gc.enable()
    return samples


def _measure_memory(conversion: plait.Conversion, rank: int) -> tuple[int, int]:
    """Return the peak memory of one call in bytes: that of Python's allocations, and the growth of the process."""
    gc.collect()
    _trim_heap()
    _reset_peak()
    before = _read_status("VmRSS")
    conversion.sends(rank)
    resident = max(0, _read_status("VmHWM") - before)
    tracemalloc.start()
    conversion.sends(rank)
    python = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return python, resident


def _trim_heap() -> None:
    """Return unused memory to the system if the C library supports it, so that new allocations grow the process."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _reset_peak() -> None:
    """Reset the peak resident memory (VmHWM) of the process."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _read_status(name: str) -> int:
    """Return a size of /proc/self/status in bytes."""
    match = re.search(rf"^{name}:\s*(\d+) kB$", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0
