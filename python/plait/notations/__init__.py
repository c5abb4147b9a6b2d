"""Converts layouts from and to the notations of other systems.

There is one module for each notation. `from_...` takes the object of the foreign package, if that is installed, or its
plain data, and returns a `plait.Layout`. `to_...` returns plain data, or the foreign object if its name says so.  A
layout that a notation cannot express raises a `plait.ArgumentError` that names the reason. A module imports the foreign
package only when it builds one of its objects.  All functions are pure: they do not communicate, and may be called from
any thread.
"""

from typing import TYPE_CHECKING

__all__ = ["chunks", "dask", "distarray", "dtensor", "jax", "mpi", "pencil", "scalapack"]

if TYPE_CHECKING:
    from . import chunks, dask, distarray, dtensor, jax, mpi, pencil, scalapack
else:
    from .._base.later import later as _later

    __getattr__, __dir__ = _later(__name__, submodules=__all__)
