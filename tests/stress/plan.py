"""Random plans of the reads and writes of each rank in one phase of storm.py.

A plan follows from the seed, so every rank can compute the plans of all ranks and knows what the others write.
"""

from dataclasses import dataclass, field

import numpy as np

MAX_OPERATIONS = 1000  # of a rank in a phase


@dataclass
class PlanParameters:
    """Parameters from which the operations of a run are drawn."""

    files: int
    windows: list[tuple[int, int]]  # the ranges of each file that writes go to: offset and number of bytes
    operations: int = 14  # of each rank in a phase
    depth: int = 6  # maximum number of pending requests of a rank
    max_bytes: int = 300_000  # of an operation
    is_uniform: bool = False  # sizes are uniformly distributed; otherwise their logarithms are


@dataclass
class Operation:
    """One call of one rank.  begin_event and wait_event are indices in Plan.events: the call, and the wait for it."""

    rank: int
    tag: int  # number of the operation, different for all ranks and phases
    kind: str  # read, write, size, sync
    file: int
    offset: int = 0
    count: int = 0
    begin_event: int = 0
    wait_event: int = 0
    failed: bool = False
    known_end: int = 0  # a lower bound of the file's size that the rank knew at the begin of the operation

    @property
    def end(self) -> int:
        return self.offset + self.count

    def __str__(self) -> str:
        return f"{self.kind} {self.tag} of rank {self.rank}: {self.count} bytes at {self.offset} of file {self.file}"


@dataclass
class Plan:
    """The operations of one rank in one phase, and the order in which the rank begins them and waits for them."""

    operations: list[Operation] = field(default_factory=list)
    events: list[Operation] = field(default_factory=list)  # each operation is there twice: for its begin and its wait

    def writes(self) -> list[Operation]:
        return [operation for operation in self.operations if operation.kind == "write"]


def expected_bytes(tag: int, offset: int, count: int) -> np.ndarray:
    """Returns the bytes that the operation `tag` writes at these offsets.

    They are a hash of tag and offset, so that bytes at wrong offsets, and those of other operations, are detected. The
    constants are those of SplitMix64, and an odd number that separates tags.
    """
    offsets = np.arange(offset, offset + count, dtype=np.uint64)
    mixed = offsets * np.uint64(0x9E3779B97F4A7C15) + np.uint64(tag * 0x632BE59BD9B4E019 % 2**64)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(56)).astype(np.uint8)


def draw_plan(seed: int, phase: int, rank: int, parameters: PlanParameters, ends: list[int]) -> Plan:
    """Draws the plan of one rank for a phase; `ends` are the sizes of the files at its begin."""
    random = np.random.default_rng([seed, phase, rank])
    result = Plan()
    kinds = random.choice(["write", "read", "size", "sync"], parameters.operations, p=[0.5, 0.4, 0.05, 0.05])
    for number, kind in enumerate(kinds):
        file = int(random.integers(parameters.files))
        tag = (phase * MAX_OPERATIONS + number) * 64 + rank
        result.operations.append(Operation(rank, tag, str(kind), file))
        if kind in ("read", "write"):
            draw_range(random, result.operations[-1], parameters, ends[file])
    not_begun = list(reversed(result.operations))
    pending: list[Operation] = []
    while not_begun or pending:
        if not_begun and (not pending or (len(pending) < parameters.depth and random.random() < 0.6)):
            operation = not_begun.pop()
            operation.begin_event = len(result.events)
            pending.append(operation)
        else:
            operation = pending.pop(int(random.integers(len(pending))))
            operation.wait_event = len(result.events)
        result.events.append(operation)
    return result


def draw_range(random: np.random.Generator, operation: Operation, parameters: PlanParameters, end: int) -> None:
    """Draws offset and count of a read or write, mostly within a window; `end` is the size of the file."""
    begin, length = parameters.windows[int(random.integers(len(parameters.windows)))]
    max_count = min(length, parameters.max_bytes)
    size = random.uniform(0, max_count) if parameters.is_uniform else np.exp(random.uniform(0, np.log(max_count + 1)))
    operation.count = min(max_count, int(size))
    if random.random() < 0.03:
        operation.count = 0
    operation.offset = begin + int(random.integers(length - operation.count + 1))
    if operation.kind == "write":
        return
    choice = random.random()
    if choice < 0.1:  # anywhere in the file, which is mostly between the windows
        operation.offset = int(random.integers(max(1, end)))
    elif choice < 0.15:  # across the end of the file
        operation.offset = max(0, end - int(random.integers(operation.count + 1)))
    if choice < 0.85 and operation.end > end:  # the other reads may pass the end, which is an error
        operation.offset = max(0, end - operation.count)
        operation.count = min(operation.count, end)
