"""Layouts in the notations of other systems, in and out.

One module for each notation: `from_...` takes the real object where its package is installed, or its plain data, and
returns a `plait.Layout`; `to_...` returns plain data, or the real object where the name says so.  A layout that a
notation cannot say is refused with a `plait.ArgumentError` that names the reason.

No module here imports the package whose notation it reads before it has to build one of its objects.  Everything is
pure: no communication, and all of it may be called from any thread.
"""

from typing import TYPE_CHECKING

__all__ = ["chunks", "dask", "distarray", "dtensor", "jax", "mpi", "pencil", "scalapack"]

if TYPE_CHECKING:
    from . import chunks, dask, distarray, dtensor, jax, mpi, pencil, scalapack
else:
    from .._base.later import later as _later

    __getattr__, __dir__ = _later(__name__, submodules=__all__)
