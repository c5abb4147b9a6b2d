"""Random plans of the programs of pipe_storm.py: a writer and several readers of a sequence of pipes.

A plan follows from the seed, so each program can compute what the others do. A round is one pipe from its begin to its
end; a step is one time step of a pipe, with the values of one or more arrays (variables).
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "python"))
from brute_force import LayoutModel, random_model
from plan import expected_bytes

import plait

DTYPES = ("u1", "<i2", "<f4", "<f8", "<c16", "S3", "V7")
# Faults (pipe_end.py). kill: SIGKILL between two calls; shoot: SIGKILL at a random moment; raise: an exception;
# cut: the network link of the host goes down.  stop and flap are not fatal: process or link stop for some seconds.
KILLS = ("kill", "shoot")
FATAL = ("raise", *KILLS, "cut")


@dataclass(frozen=True)
class Program:
    """One of the programs: the writer, or a reader."""

    ranks: int
    alone: bool = False  # one process without MPI, which has the local arrays of all ranks
    host: int = 0  # number of its first host
    hosts: int = 1  # number of its hosts

    @property
    def processes(self) -> int:
        return 1 if self.alone else self.ranks

    def text(self) -> str:
        """Returns a text from which parse() makes the same program, such as 3a@1+1."""
        return f"{self.ranks}{'a' if self.alone else ''}@{self.host}+{self.hosts}"

    @staticmethod
    def parse(text: str) -> Program:
        ranks, _, hosts = text.partition("@")
        host, _, count = hosts.partition("+")
        return Program(int(ranks.rstrip("a")), ranks.endswith("a"), int(host), int(count))


@dataclass(frozen=True)
class ReplicatedModel:
    """A replicated layout: `count` groups of ranks, each of which has all parts of a model."""

    model: LayoutModel
    count: int

    @property
    def size(self) -> int:
        return self.model.size * self.count

    def layout(self) -> plait.Layout:
        model = self.model
        grid = (self.count, *model.grid)
        return plait.Layout(model.shape, model.dist, grid=grid, ranks="C", order=model.order, replicate=[0])

    def local(self, array: np.ndarray, rank: int) -> np.ndarray:
        return self.model.local(array, rank % self.model.size)

    def locals(self, array: np.ndarray) -> list[np.ndarray]:
        return [self.local(array, rank) for rank in range(self.size)]


RankLayouts = LayoutModel | ReplicatedModel


@dataclass
class Variable:
    """One array of each step; each program distributes it by two layouts in turn, one in even and one in odd steps."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    layouts: list[list[RankLayouts]] = field(default_factory=list)  # two of each program
    regions: list[tuple[slice | int, ...] | None] = field(default_factory=list)  # of each program; the writer has none

    def value(self, tag: int) -> np.ndarray:
        """Returns the array of a step; `tag` numbers all arrays of all steps, so that no two have the same elements."""
        dtype = np.dtype(self.dtype)
        count = math.prod(self.shape) * dtype.itemsize
        return np.frombuffer(expected_bytes(tag, 0, count).tobytes(), dtype).reshape(self.shape)

    def layout(self, program: int, step: int) -> RankLayouts:
        return self.layouts[program][step % 2]


@dataclass
class Habits:
    """When a reader joins and leaves a pipe, and which arrays it reads."""

    late: bool = False  # joins while the first reader reads the step Round.hold
    leaves: int = -1  # number of steps after which it leaves; -1: at the end
    skips: float = 0.0  # fraction of the arrays that it does not read
    sleeps: float = 0.0  # maximum number of seconds that it sleeps in a step


@dataclass
class Round:
    """One pipe, from its beginning to its end."""

    number: int
    steps: int  # number of time steps
    queue: int  # maximum number of steps that wait for readers
    drop: bool  # whether the oldest step is dropped if the queue is full
    hold: int  # step at which the first reader waits until the late readers have joined; -1: none
    variables: list[Variable]
    habits: list[Habits]  # of each program; for the writer only `sleeps` counts

    def url(self, readers: int, more: str = "") -> str:
        text = f"pipe:stress-{self.number}?queue={self.queue}&readers={readers}&timeout=60{more}"
        return text + ("&drop=oldest" if self.drop else "")

    def tag(self, step: int, variable: int) -> int:
        return (self.number * 1000 + step) * 10 + variable

    def count_early_readers(self) -> int:
        """Returns the number of readers that the writer waits for."""
        return sum(not habit.late for habit in self.habits[1:])


@dataclass(frozen=True)
class Fault:
    """A fault of one rank of one program in the middle of one step of one pipe."""

    kind: str = "none"
    program: int = 0
    rank: int = 0
    number: int = 0  # of the pipe
    step: int = 0

    def text(self) -> str:
        return f"{self.kind}:{self.program}:{self.rank}:{self.number}:{self.step}"

    @staticmethod
    def parse(text: str) -> Fault:
        kind, *numbers = text.split(":")
        return Fault(kind, *map(int, numbers))


def draw_shape(random: np.random.Generator) -> tuple[int, ...]:
    """Draws a shape, mostly a small one, sometimes one whose data is transferred in several pieces."""
    kind = random.random()
    if kind < 0.15:
        return (int(random.integers(1000, 300_000)),)
    if kind < 0.4:
        return tuple(int(n) for n in random.integers(30, 400, 2))
    return tuple(int(n) for n in random.integers(0, 14, random.integers(1, 4)))


def draw_region(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[slice | int, ...]:
    """Draws a region: slices, many of them with a stride, and some single indices."""
    region: list[slice | int] = []
    for size in shape:
        begin, end = sorted(int(n) for n in random.integers(0, size + 1, 2))
        if begin < size and random.random() < 0.1:
            region.append(begin)
        else:
            region.append(slice(begin, end, int(random.choice([1, 1, 2, 3, 7]))))
    if not any(isinstance(part, slice) for part in region):
        region[0] = slice(None)
    return tuple(region)


def draw_layouts(random: np.random.Generator, shape: tuple[int, ...], ranks: int) -> list[RankLayouts]:
    """Draws the layouts of a program for even and odd steps, on at most `ranks` ranks; mostly they are the same."""
    if ranks > 1 and max(shape) <= 10_000 and random.random() < 0.15:
        count = int(random.choice([n for n in range(2, ranks + 1) if ranks % n == 0]))
        model = random_model(random, shape, ranks // count)
        return [ReplicatedModel(LayoutModel(model.shape, model.dist, model.grid, "C", model.order), count)] * 2
    layouts: list[RankLayouts] = [
        random_model(random, shape, ranks if random.random() < 0.8 else int(random.integers(1, ranks + 1)))
    ]
    # LayoutModel computes index by index, so long dimensions have only distributions that are fast to compute.
    if max(shape) > 10_000:
        layouts = [LayoutModel(shape, (str(random.choice(["block", "balanced", "cyclic(3)"])),), (ranks,))]
    is_second_different = random.random() < 0.3 and max(shape) <= 10_000
    layouts.append(random_model(random, shape, ranks) if is_second_different else layouts[0])
    return layouts


def draw_round(seed: int, number: int, programs: list[Program], fault: Fault) -> Round:
    """Draws a round; if it has a fatal fault, all readers read everything from the begin, so that the fault happens."""
    result = draw_round_without_fault(seed, number, programs)
    if fault.number == number and fault.kind in FATAL:
        result.hold = -1
        for habit in result.habits:
            habit.late, habit.leaves, habit.skips = False, -1, 0.0
    return result


def draw_round_without_fault(seed: int, number: int, programs: list[Program]) -> Round:
    random = np.random.default_rng([seed, number])
    drop = random.random() < 0.2
    names = ["data", "pressure", "u"][: int(random.choice([1, 1, 2, 3]))]
    variables = []
    for name in names:
        variable = Variable(name, draw_shape(random), str(random.choice(DTYPES)))
        for index, program in enumerate(programs):
            region = draw_region(random, variable.shape) if index > 0 and random.random() < 0.3 else None
            shape = variable.shape if region is None else np.broadcast_to(0, variable.shape)[region].shape
            variable.regions.append(region)
            variable.layouts.append(draw_layouts(random, shape, program.ranks))
        variables.append(variable)
    steps = int(random.integers(1, 9))
    habits = [Habits(sleeps=float(random.choice([0, 0, 0.02])))]
    for index in range(1, len(programs)):
        # The first reader is neither late nor leaves early, so that each step has a reader.
        late = index > 1 and random.random() < 0.5
        leaves = int(random.integers(0, steps + 1)) if index > 1 and random.random() < 0.3 else -1
        sleeps = float(random.choice([0, 0, 0.01, 0.1]))
        habits.append(Habits(late, leaves, float(random.choice([0, 0.3])), sleeps))
    hold = int(random.integers(steps)) if any(habit.late for habit in habits) else -1
    return Round(number, steps, int(random.integers(2 if drop else 1, 4)), drop, hold, variables, habits)
