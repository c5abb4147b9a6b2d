"""Random programs of MPI-IO, each compared with a model of its file.

usage: random_accesses.py FIRST NUMBER FOLDER

All ranks draw the same numbers, so that each knows the program of all ranks. Rank 0 compares the file with the model;
each rank compares what it reads. Each rank writes what it has observed to FOLDER/log.RANK, which must be equal with and
without Plait, and the files remain there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI
from views import View, random_views

COMM = MPI.COMM_WORLD
RANKS, RANK = COMM.size, COMM.rank


class Memory:
    """A buffer of a rank, and a memory type that selects its data."""

    def __init__(self, rng: np.random.Generator, element: MPI.Datatype, number: int) -> None:
        """Lay out `number` elements: one after another, as bytes, with holes between them, or in any order."""
        size = element.size
        kind = rng.choice(7, p=[0.3, 0.15, 0.15, 0.1, 0.1, 0.1, 0.1])
        self.made: list[MPI.Datatype] = []
        self.indices = np.arange(number * size)
        self.count, self.datatype = number, element
        if kind == 1:
            self.count, self.datatype = number * size, MPI.BYTE
        elif kind == 2 and number:
            self._make(element.Create_contiguous(number), 1)
        elif kind == 3 and number:
            gap = int(rng.integers(1, 3))
            self._make(element.Create_vector(number, 1, 1 + gap), 1)
            at = np.arange(number)[:, None] * (1 + gap) * size
            self.indices = (at + np.arange(size)).ravel()
        elif kind == 4 and number:
            gap = int(rng.integers(1, 9))
            self._make(element.Create_resized(0, size + gap), number)
            self.indices = (np.arange(number)[:, None] * (size + gap) + np.arange(size)).ravel()
        elif kind >= 5 and number:
            self._scatter(rng, element, number, is_struct=kind == 6)
        shift = int(rng.integers(0, 9))  # addresses that are no multiples of an element's size
        self.buffer = np.full(int(self.indices.max(initial=-1)) + 1 + 16 + shift, 0xAA, np.uint8)[shift:]

    def _scatter(self, rng: np.random.Generator, element: MPI.Datatype, number: int, is_struct: bool) -> None:
        """Lay out blocks of elements in any order, with or without holes between them; a structure of them has two."""
        ends = np.unique(rng.integers(1, number + 1, 1 + number // 3)).tolist()
        lengths = np.diff([0, *ends[:-1], number]).tolist()
        order = rng.permutation(len(lengths))
        offsets = [0] * len(lengths)
        end = int(rng.integers(0, 20))
        for one in order:
            offsets[one] = end
            end += lengths[one] * element.size + int(rng.integers(0, 3)) * int(rng.integers(1, 9))
        made = element.Create_hindexed(lengths, offsets)
        indices = [np.arange(at, at + n * element.size) for at, n in zip(offsets, lengths, strict=True)]
        self.indices = np.concatenate(indices)
        if is_struct:
            half = len(lengths) // 2
            parts = [
                element.Create_hindexed(lengths[:half], offsets[:half]),
                element.Create_hindexed(lengths[half:], [at - offsets[half] for at in offsets[half:]]),
            ]
            self._make(MPI.Datatype.Create_struct([1, 1], [0, offsets[half]], parts), 1)
            self.made += [made, *parts]
        else:
            self._make(made, 1)

    def _make(self, datatype: MPI.Datatype, count: int) -> None:
        self.made = [datatype.Commit()]
        self.count, self.datatype = count, datatype

    @property
    def spec(self) -> list[object]:
        """The argument of a read or write."""
        return [self.buffer, self.count, self.datatype]

    def free(self) -> None:
        for datatype in self.made:
            datatype.Free()


UNKNOWN = -1
"""A byte that was never written, before the end of the file: MPIs leave any value there."""


class Program:
    """A random program and the model of its file."""

    def __init__(self, number: int, folder: Path) -> None:
        self.rng = np.random.default_rng(number)
        self.number = number
        self.path = folder / f"{number}.bin"
        self.log: list[object] = [number]
        self.model = np.zeros(0, np.int16)
        self.positions = [0] * RANKS
        self.kind = "none"
        self.views: list[View] = []

    def run(self) -> None:
        if self.rng.random() < 0.5:
            content = self.rng.integers(
                0, 256, int(self.rng.integers(1, [300, 20000, 60000][self.rng.integers(3)])), np.uint8
            )
            self.model = content.astype(np.int16)
            if RANK == 0:
                self.path.write_bytes(content.tobytes())
        COMM.barrier()
        self.file = MPI.File.Open(COMM, str(self.path), MPI.MODE_RDWR | MPI.MODE_CREATE)
        self.set_views()
        for _ in range(int(self.rng.integers(1, 7))):
            action = self.rng.random()
            if action < 0.12:
                self.set_views()
            elif action < 0.2:
                self.file.Set_atomicity(bool(self.rng.integers(2)))
            elif action < 0.28:
                self.seek()
            elif action < 0.36:
                self.check_view()
            else:
                self.access()
            self.file.Sync()
            COMM.barrier()
            self.file.Sync()
        self.log += [self.file.Get_size(), self.file.Get_position()]
        assert self.file.Get_size() == len(self.model), (self.number, self.file.Get_size(), len(self.model))
        self.file.Close()
        for view in self.views:
            view.free()
        if RANK == 0:
            found = np.fromfile(self.path, np.uint8)
            assert not self.differs(found, self.model), (self.number, self.kind)
        COMM.barrier()

    @staticmethod
    def differs(found: np.ndarray, expected: np.ndarray) -> bool:
        return bool(((found != expected) & (expected != UNKNOWN)).any())

    def set_views(self) -> None:
        for view in self.views:
            view.free()
        self.kind, self.views = random_views(self.rng, RANKS)
        own_view = self.views[RANK]
        self.file.Set_view(own_view.displacement, own_view.etype, own_view.filetype)
        self.positions = [0] * RANKS

    def seek(self) -> None:
        whole = self.rng.random() < 0.8
        tiles = 0
        for rank, view in enumerate(self.views):
            in_tile = len(view.offsets) // view.etype.size
            tiles = int(self.rng.integers(0, 3)) if rank == 0 or not whole else tiles
            self.positions[rank] = tiles * (in_tile if whole or not in_tile else 1)
        self.file.Seek(self.positions[RANK], MPI.SEEK_SET)

    def check_view(self) -> None:
        """Check the results of calls that depend on the view and the pointer, and move the pointer."""
        view, position = self.views[RANK], self.positions[RANK]
        displacement, etype, filetype, _ = self.file.Get_view()
        assert displacement == view.displacement, self.number
        assert (etype.size, filetype.size, filetype.extent) == (view.etype.size, len(view.offsets), view.extent), (
            self.number
        )
        for datatype in (etype, filetype):
            if not datatype.is_predefined:
                datatype.Free()
        if len(view.offsets):
            self.file.Seek(1, MPI.SEEK_CUR)
            assert self.file.Get_position() == position + 1, self.number
            offset = int(np.random.default_rng([self.number, RANK]).integers(0, 100))
            expected = view.bytes_at(offset * view.etype.size, 1)[0]
            assert self.file.Get_byte_offset(offset) == expected, (self.number, offset)
            if len(self.log) % 2 == RANK % 2:
                self.seek_end()
        self.file.Seek(position)

    def seek_end(self) -> None:
        """Find the end of the file in this view, which is an error of some MPIs if the view begins after it."""
        try:
            self.file.Seek(0, MPI.SEEK_END)
            self.log.append(("end", self.file.Get_position()))
        except MPI.Exception as error:
            self.log.append(("end", error.Get_error_class()))

    def amounts(self) -> list[int]:
        """Return the number of etypes that each rank accesses: mostly whole filetypes."""
        choice = self.rng.random()
        tiles = 1 if choice < 0.6 else int(self.rng.integers(1, 4))
        amounts = []
        for view in self.views:
            whole = len(view.offsets) // view.etype.size * tiles
            part = int(self.rng.integers(0, whole + 1))
            amounts.append(whole if choice < 0.85 else part)
        if self.kind == "mixed" and self.rng.random() < 0.7:
            absent = [view.etype == MPI.BYTE and view.extent == 1 for view in self.views]
            amounts = [0 if is_absent else n for is_absent, n in zip(absent, amounts, strict=True)]
        return amounts

    def access(self) -> None:
        writes = bool(self.rng.integers(2)) and self.kind != "same"
        at_offset = bool(self.rng.integers(2))
        amounts = self.amounts()
        positions = list(self.positions)
        if at_offset:
            tile = int(self.rng.integers(0, 3)) if self.rng.random() < 0.5 else 0
            off = int(self.rng.integers(1, 3)) if self.rng.random() < 0.15 else 0
            positions = [tile * (len(view.offsets) // view.etype.size) + off for view in self.views]
        data = [
            self.rng.integers(0, 256, n * view.etype.size, np.uint8)
            for view, n in zip(self.views, amounts, strict=True)
        ]
        memory = Memory(
            np.random.default_rng([self.number, RANK, len(self.log)]), self.views[RANK].etype, amounts[RANK]
        )
        status = MPI.Status()
        all_ranks = "_all" if self.rng.random() < 0.85 else ""  # else each rank by itself
        name = f"{'Write' if writes else 'Read'}{'_at' if at_offset else ''}{all_ranks}"
        if writes:
            memory.buffer[memory.indices] = data[RANK]
        begin = [positions[RANK]] if at_offset else []
        if all_ranks and self.rng.random() < 0.2:
            getattr(self.file, f"{name}_begin")(*begin, memory.spec)
            getattr(self.file, f"{name}_end")(memory.spec, status)
        elif self.rng.random() < 0.2:
            getattr(self.file, f"I{name.lower()}")(*begin, memory.spec).Wait(status)
            if not at_offset and not writes:  # some MPIs move the pointer less far if the file ends before
                self.file.Seek(positions[RANK] + amounts[RANK])
        else:
            getattr(self.file, name)(*begin, memory.spec, status)
        elements: int | str = status.Get_elements(MPI.BYTE)
        if writes:
            self.write_model(positions, data)
        elif not self.compare(memory, positions[RANK], amounts[RANK] * self.views[RANK].etype.size, status):
            elements = "past the end"  # the number that MPICH returns depends on earlier calls
        if not at_offset:
            self.positions = [at + n for at, n in zip(self.positions, amounts, strict=True)]
            if writes:  # a read past the end moves the pointer less far in some MPIs
                assert self.file.Get_position() == self.positions[RANK], (self.number, name)
            self.positions[:] = COMM.allgather(self.file.Get_position())
            self.file.Seek(self.positions[RANK])  # a read that ended inside an etype may have left the pointer there
        self.log.append((name, self.kind, elements, self.file.Get_position()))
        memory.free()

    def write_model(self, positions: list[int], data: list[np.ndarray]) -> None:
        for view, position, values in zip(self.views, positions, data, strict=True):
            at = view.bytes_at(position * view.etype.size, len(values))
            end = int(at.max(initial=-1)) + 1
            if end > len(self.model):
                self.model = np.concatenate([self.model, np.full(end - len(self.model), UNKNOWN, np.int16)])
            self.model[at] = values

    def compare(self, memory: Memory, position: int, number: int, status: MPI.Status) -> bool:
        """Compare what was read with the model; return False if the file ends before the last byte."""
        view = self.views[RANK]
        at = view.bytes_at(position * view.etype.size, number)
        is_inside = bool(at.max(initial=-1) < len(self.model))
        if is_inside:
            assert status.Get_elements(MPI.BYTE) == number, (self.number, self.kind, number)
            assert not self.differs(memory.buffer[memory.indices], self.model[at]), (self.number, self.kind)
        holes = np.ones(len(memory.buffer), bool)
        holes[memory.indices] = False
        assert (memory.buffer[holes] == 0xAA).all(), (self.number, self.kind)
        return is_inside


def main() -> None:
    first, number, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    with open(folder / f"log.{RANK}", "w", encoding="utf-8") as log:
        for program_number in range(first, first + number):
            program = Program(program_number, folder)
            try:
                program.run()
            except BaseException:
                print(f"rank {RANK} of {RANKS}, program {program_number}:", file=sys.stderr, flush=True)
                raise
            finally:
                log.write(f"{program.log}\n")


if __name__ == "__main__":
    main()
