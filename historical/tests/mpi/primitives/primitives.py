"""The 1993 primitives in C, called through ctypes, and brute-force models of their results."""

import ctypes
from pathlib import Path

import mappings
import numpy as np
from mappings import (
    BLOCK,
    BLOCK_CYCLIC,
    COLLAPSED,
    CYCLIC,
    declare_local_array,
    make_distinct_array,
    random_grid,
    rank_by_position,
)

import plait

__all__ = [
    "BLOCK",
    "BLOCK_CYCLIC",
    "COLLAPSED",
    "CYCLIC",
    "declare_local_array",
    "make_distinct_array",
    "random_grid",
    "rank_by_position",
]
SEQUENTIAL, DIRECT = 0, 1
OLD, NEW = 0, 1
OK, ARGUMENT, SYSTEM = 0, 1, 2
# Types of NumPy → their names in Fortran, in various spellings.
TYPES = {"i1": "INTEGER*1", "i2": "integer*2", "i4": "INTEGER*4", "f8": "DOUBLE PRECISION", "c16": "complex * 16"}


def load():
    """Return the library, with the argument types of its functions declared."""
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


def last_message():
    """Return the message of the last error."""
    return LIBRARY.plait_message(None).decode()


def check(status):
    assert status == OK, last_message()


def pad_to_seven(values, kind="i4"):
    """Return the values as a list of seven entries of a C integer type; unused entries are -1."""
    return np.array([*values, *[-1] * (7 - len(values))], kind)


def popen(unit, path, access, status, disks=None, processors=-1, form=0):
    """Call plait_popen and return its status; `disks` is an array of one, which receives the number of disks."""
    return LIBRARY.plait_popen(
        unit, str(path).encode(), access, form, status, None if disks is None else disks.ctypes.data, processors
    )


def proc_map(grid, mode=0, user_map=None):
    user_list = None if user_map is None else np.array(user_map, "i4")
    lists = pad_to_seven(grid)
    return LIBRARY.plait_proc_map(lists.ctypes.data, mode, None if user_list is None else user_list.ctypes.data)


def array_map(size, codes, blocks, grid, name="A", dtype="i4"):
    """Return the descriptor of an array with elements of a type."""
    lists = (pad_to_seven(size, "i8"), pad_to_seven(codes), pad_to_seven(blocks, "i8"), pad_to_seven(grid))
    descriptor = LIBRARY.plait_array_map(name.encode(), *(values.ctypes.data for values in lists))
    if descriptor > 0 and dtype != "i4":
        check(LIBRARY.plait_array_type(descriptor, TYPES[dtype].encode()))
    return descriptor


def pread(array, sizes, descriptor, unit, io_size=-1):
    return LIBRARY.plait_pread(array.ctypes.data, *sizes, descriptor, unit, None, io_size)


def pwrite(array, sizes, descriptor, unit, io_size=-1):
    return LIBRARY.plait_pwrite(array.ctypes.data, *sizes, descriptor, unit, None, io_size)


class Mapping(mappings.Mapping):
    """A mapping that can be declared to the library."""

    def describe(self, name="A", dtype="i4"):
        """Declare the mapping to the library by proc_map and array_map, and return its descriptor."""
        check(proc_map(self.grid, self.mode, self.user_map))
        descriptor = array_map(self.size, self.codes, self.blocks, self.grid, name, dtype)
        assert descriptor >= 1, last_message()
        return descriptor


def random_mapping(random, ranks, size=None):
    """Return a random mix of distributions of 1 to 7 dimensions."""
    return mappings.random_mapping(random, ranks, size, Mapping)


def pclose_all(units=range(10)):
    """Close all open units.  Collective."""
    for unit in units:
        LIBRARY.plait_pclose(unit)
