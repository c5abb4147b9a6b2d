"""What every rank does in one phase of the stress: the same on all ranks, from the seed alone."""

from dataclasses import dataclass, field

import numpy as np

MAX_OPERATIONS = 1000  # of a rank in a phase


@dataclass
class Shape:
    """What the operations of a run look like."""

    files: int
    windows: list[tuple[int, int]]  # where writes go: offset and bytes
    operations: int = 14
    depth: int = 6  # requests under way at a time
    largest: int = 300_000
    even: bool = False  # all sizes are as frequent, rather than all magnitudes


@dataclass
class Operation:
    """One call of one rank; its times are indices in that rank's list of events."""

    rank: int
    tag: int
    kind: str  # read, write, size, sync
    file: int
    offset: int = 0
    count: int = 0
    begin_event: int = 0
    wait_event: int = 0
    failed: bool = False
    known_end: int = 0  # where the file ended at least, as the rank knew when it began

    @property
    def end(self) -> int:
        return self.offset + self.count

    def __str__(self) -> str:
        return f"{self.kind} {self.tag} of rank {self.rank}: {self.count} bytes at {self.offset} of file {self.file}"


@dataclass
class Plan:
    """One rank's phase: operations begin and are waited for in the order of `events`."""

    operations: list[Operation] = field(default_factory=list)
    events: list[Operation] = field(default_factory=list)  # an operation comes twice

    def writes(self) -> list[Operation]:
        return [operation for operation in self.operations if operation.kind == "write"]


def expected_bytes(tag: int, offset: int, count: int) -> np.ndarray:
    """What the operation `tag` writes at these offsets: moved bytes, and those of another one, differ."""
    offsets = np.arange(offset, offset + count, dtype=np.uint64)
    mixed = offsets * np.uint64(0x9E3779B97F4A7C15) + np.uint64(tag * 0x632BE59BD9B4E019 % 2**64)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(56)).astype(np.uint8)


def plan(seed: int, phase: int, rank: int, shape: Shape, ends: list[int]) -> Plan:
    """The phase of one rank, where the files end at `ends` when it begins."""
    random = np.random.default_rng([seed, phase, rank])
    made = Plan()
    kinds = random.choice(["write", "read", "size", "sync"], shape.operations, p=[0.5, 0.4, 0.05, 0.05])
    for number, kind in enumerate(kinds):
        file = int(random.integers(shape.files))
        tag = (phase * MAX_OPERATIONS + number) * 64 + rank
        made.operations.append(Operation(rank, tag, str(kind), file))
        if kind in ("read", "write"):
            put(random, made.operations[-1], shape, ends[file])
    waiting = list(reversed(made.operations))
    under_way: list[Operation] = []
    while waiting or under_way:
        if waiting and (not under_way or (len(under_way) < shape.depth and random.random() < 0.6)):
            operation = waiting.pop()
            operation.begin_event = len(made.events)
            under_way.append(operation)
        else:
            operation = under_way.pop(int(random.integers(len(under_way))))
            operation.wait_event = len(made.events)
        made.events.append(operation)
    return made


def put(random: np.random.Generator, operation: Operation, shape: Shape, end: int) -> None:
    """Chooses the bytes of a read or write: of any size, in a window as a rule."""
    begin, room = shape.windows[int(random.integers(len(shape.windows)))]
    max_count = min(room, shape.largest)
    size = random.uniform(0, max_count) if shape.even else np.exp(random.uniform(0, np.log(max_count + 1)))
    operation.count = min(max_count, int(size))
    if random.random() < 0.03:
        operation.count = 0
    operation.offset = begin + int(random.integers(room - operation.count + 1))
    if operation.kind == "write":
        return
    where = random.random()
    if where < 0.1:  # anywhere, between the windows as a rule
        operation.offset = int(random.integers(max(1, end)))
    elif where < 0.15:  # about the end
        operation.offset = max(0, end - int(random.integers(operation.count + 1)))
    if where < 0.85 and operation.end > end:
        operation.offset = max(0, end - operation.count)
        operation.count = min(operation.count, end)
