"""The 1993 primitives in C by ctypes, and what they must do, by brute force."""

import ctypes
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

import plait

SEQUENTIAL, DIRECT = 0, 1
OLD, NEW = 0, 1
COLLAPSED, BLOCK, CYCLIC, BLOCK_CYCLIC = range(4)
OK, ARGUMENT, SYSTEM = 0, 1, 2
# Fortran's names of NumPy's types.
TYPES = {"i1": "INTEGER*1", "i2": "integer*2", "i4": "INTEGER*4", "f8": "DOUBLE PRECISION", "c16": "complex * 16"}


def load():
    """The library, with the types of its functions."""
    library = ctypes.CDLL(str(Path(plait.__file__).parent / "libplait_mpi.so"))
    number, long, pointer, text = ctypes.c_int, ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p
    for name, kinds in {
        "popen": (number, text, number, number, number, pointer, number),
        "pclose": (number,),
        "array_map": (text, pointer, pointer, pointer, pointer),
        "array_type": (number, text),
        "proc_map": (pointer, number, pointer),
        "pread": (pointer, long, long, number, number, pointer, long),
        "pwrite": (pointer, long, long, number, number, pointer, long),
        "fda": (number, pointer),
        "adt": (number, pointer),
        "p_info": (long, pointer, pointer, pointer),
        "print_fda": (),
        "print_adt": (number,),
        "print_p_info": (),
    }.items():
        getattr(library, f"plait_{name}").argtypes = kinds
    library.plait_message.argtypes = (pointer,)
    library.plait_message.restype = text
    return library


LIBRARY = load()


def message():
    """The text of the last error."""
    return LIBRARY.plait_message(None).decode()


def check(status):
    assert status == OK, message()


def seven(values, kind="i4"):
    """A list of seven entries, of integers as C has them."""
    return np.array([*values, *[-1] * (7 - len(values))], kind)


def popen(unit, path, access, status, disks=None, processors=-1, form=0):
    """The status, with the disks as they come back in `disks`, a NumPy array of one."""
    return LIBRARY.plait_popen(
        unit, str(path).encode(), access, form, status, None if disks is None else disks.ctypes.data, processors
    )


def proc_map(grid, mode=0, user_map=None):
    user = None if user_map is None else np.array(user_map, "i4")
    lists = seven(grid)
    return LIBRARY.plait_proc_map(lists.ctypes.data, mode, None if user is None else user.ctypes.data)


def array_map(size, codes, blocks, grid, name="A", dtype="i4"):
    """The descriptor, for elements of a type."""
    lists = (seven(size, "i8"), seven(codes), seven(blocks, "i8"), seven(grid))
    descriptor = LIBRARY.plait_array_map(name.encode(), *(one.ctypes.data for one in lists))
    if descriptor > 0 and dtype != "i4":
        check(LIBRARY.plait_array_type(descriptor, TYPES[dtype].encode()))
    return descriptor


def pread(array, sizes, descriptor, unit, io_size=-1):
    return LIBRARY.plait_pread(array.ctypes.data, *sizes, descriptor, unit, None, io_size)


def pwrite(array, sizes, descriptor, unit, io_size=-1):
    return LIBRARY.plait_pwrite(array.ctypes.data, *sizes, descriptor, unit, None, io_size)


def numbered(shape, dtype, salt=0):
    """An array with a different value in each place, as far as its type has so many."""
    return (
        ((np.arange(prod(shape)) * 7 + salt) % 251 if dtype == "i1" else np.arange(prod(shape)) + 1000 * salt)
        .astype("i8")
        .astype(dtype)
        .reshape(shape, order="F")
    )


def owned(extent, code, block, processors, coordinate):
    """The indices of a dimension that a coordinate owns, index by index."""
    width = {BLOCK: -(-extent // processors) or 1, CYCLIC: 1, BLOCK_CYCLIC: block}.get(code)
    if code == COLLAPSED:
        return list(range(extent))
    return [i for i in range(extent) if i // width % processors == coordinate]


def walk(grid, mode, user_map):
    """The rank of each coordinate of the grid."""
    by_column = [tuple(reversed(place)) for place in np.ndindex(*reversed(grid))]
    if mode == -1:
        return dict(zip(by_column, user_map, strict=True))
    if mode == 0:
        return {place: rank for rank, place in enumerate(by_column)}
    if mode == 1:
        return {place: rank for rank, place in enumerate(np.ndindex(*grid))}
    path = [()]
    for extent in reversed(grid):  # slower coordinates first; each pass of a faster one turns around
        path = [
            (own, *rest)
            for i, rest in enumerate(path)
            for own in (range(extent) if i % 2 == 0 else reversed(range(extent)))
        ]
    return {place: rank for rank, place in enumerate(path)}


@dataclass
class Mapping:
    """An array on a grid: what array_map and proc_map are given."""

    size: tuple
    codes: tuple
    blocks: tuple
    grid: tuple
    mode: int
    user_map: tuple

    def indices(self, rank):
        """The indices of each dimension that a rank owns."""
        place = next(place for place, number in walk(self.grid, self.mode, self.user_map).items() if number == rank)
        return [
            owned(*dimension) for dimension in zip(self.size, self.codes, self.blocks, self.grid, place, strict=True)
        ]

    def local(self, whole, rank):
        return whole[np.ix_(*self.indices(rank))]

    def describe(self, name="A", dtype="i4"):
        """Tells the library; returns the descriptor."""
        check(proc_map(self.grid, self.mode, self.user_map))
        descriptor = array_map(self.size, self.codes, self.blocks, self.grid, name, dtype)
        assert descriptor >= 1, message()
        return descriptor


def random_grid(random, ranks, dimensions):
    """So many factors of the number of ranks."""
    grid = [1] * dimensions
    rest, factor = ranks, 2
    while rest > 1:
        if rest % factor == 0:
            grid[random.integers(dimensions)] *= factor
            rest //= factor
        else:
            factor += 1
    return grid


def random_mapping(random, ranks, size=None):
    """Any mix of distributions over 1 to 7 dimensions."""
    if size is None:
        dimensions = int(random.integers(1, 8))
        size = tuple(int(n) for n in random.integers(1, {1: 60, 2: 16, 3: 9, 4: 6}.get(dimensions, 4), dimensions))
    grid = random_grid(random, ranks, len(size))
    codes = [int(random.integers(1 if processors > 1 else 0, 4)) for processors in grid]
    blocks = [int(random.integers(1, 4)) if code == BLOCK_CYCLIC else -1 for code in codes]
    mode = int(random.integers(-1, 3))
    user_map = tuple(int(rank) for rank in random.permutation(ranks))
    return Mapping(size, tuple(codes), tuple(blocks), tuple(grid), mode, user_map)


def pclose_all(units=range(10)):
    """Closes what is open, as all ranks do."""
    for unit in units:
        LIBRARY.plait_pclose(unit)
