"""Finds the HDF5 library that h5py uses, without importing h5py, and acquires h5py's lock for its use.

The compiled core calls these functions by their names (bindings/python/core_hdf5.cpp).
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any


def find_library() -> str:
    """Return the path of the library that h5py uses; empty if it is unknown."""
    try:
        found = importlib.util.find_spec("h5py")
    except (ImportError, ValueError):  # something else has its name
        found = None
    folders = [Path(sys.prefix, "lib")]
    if found is not None and found.origin is not None:
        folders.insert(0, Path(found.origin).parent.parent / "h5py.libs")  # of its wheels
    for folder in folders:
        for path in sorted(folder.glob("libhdf5[-.]*so*")):
            return str(path)
    return ""


def find_plugins() -> str:
    """Return the folder of the plug-ins of the package hdf5plugin; empty if the package is not installed."""
    try:
        found = importlib.util.find_spec("hdf5plugin")
    except (ImportError, ValueError):  # something else has its name
        return ""
    for package in found.submodule_search_locations or () if found is not None else ():
        if (folder := Path(package, "plugins")).is_dir():
            return str(folder)
    return ""


def acquire_h5py_lock() -> Any:
    """Wait until no thread is in h5py, and return the lock that excludes others; None if h5py is not imported."""
    objects = sys.modules.get("h5py._objects")
    lock = getattr(objects, "phil", None)
    if lock is not None:
        lock.acquire()
    return lock
