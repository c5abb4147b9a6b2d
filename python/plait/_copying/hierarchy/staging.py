"""Makes new Zarr hierarchies with several arrays appear whole, or not at all.

Each array of a hierarchy such as ``a.zarr`` is a folder that Plait writes by itself. If ``a.zarr`` is new, all of its
arrays are written to ``.a.zarr.plait-HOST-PROCESS-NUMBER/a.zarr``, which gets its name when the last array is complete.
If arrays are added to an existing hierarchy, each appears when it is complete, and a copy that fails removes those that
it has added (additions.py).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import json
import os
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ... import _core
from ..._base.errors import Error, store_error
from ..._calls.guard import agreed_errors, collective_errors
from ..._file.location import locate_new
from ..leftovers import remove_leftovers, temporary_prefix
from .additions import Additions, holds_entries
from .consolidating import consolidate, consolidate_here
from .folders import make_advice, take_owner_and_mode

_counter = itertools.count()
_TEMPORARY = r"\.[^/]*?\.plait-[^/]*?-\d+-\d+"
_FORMATS = ("zarr:", "zarr2:")
"""Prefixes of the name of a new hierarchy whose ending does not determine its format."""


class Stage:
    """The folder of the arrays of a hierarchy until all of them are complete."""

    def __init__(self, target: str, comm: _core.Comm, *, consolidates: bool = True) -> None:
        """Make the folder.  consolidates: True to write consolidated metadata.  Collective."""
        self._target, self._comm, self._consolidates = target, comm, consolidates
        self._format = next((prefix for prefix in _FORMATS if target.startswith(prefix)), "")
        self._fail = partial(_core.fail, comm=comm)
        self._lock = -1
        self._folder: Path | None = None
        self._additions: Additions | None = None
        with collective_errors(self._fail):
            self._root = path = Path(locate_new(target).path)
            if path.is_symlink():
                self._root = Path(os.path.realpath(path))
            if comm.rank == 0 and not is_occupied(self._root):
                self._make_folder()
            with agreed_errors():
                encoded = _core.broadcast_text(f"stage {target}", json.dumps(str(self._folder or "")), 0, comm)
        folder = json.loads(encoded)
        self._staging_root = Path(folder) / self._root.name if folder else None
        self.path = f"{self._format}{self._staging_root}" if self._staging_root else target
        """The name under which arrays are written."""
        self._array = self._staging_root or self._root
        self._missing = [self._array]
        if self._staging_root is None:
            with collective_errors(self._fail):
                self._additions = Additions.begin(target.removeprefix(self._format), self._root)

    def begin_array(self, name: str) -> None:
        """Begin an array, before its file is opened."""
        root = self._staging_root or self._root
        self._array = root.joinpath(*[part for part in name.split("/") if part])
        above = [path for path in (self._array, *self._array.parents) if path.is_relative_to(root)]
        self._missing = [path for path in above if not os.path.lexists(path)]

    def record_array(self, unfinished: str) -> None:
        """Record the folder of the array.  unfinished: the path of its metadata under a temporary name"""
        if self._additions is not None:
            with contextlib.suppress(OSError):  # a rank that does not see the folder leaves its removal to rank 0
                self._additions.record(self._array, self._missing, Path(unfinished).parent)

    def commit(self) -> None:
        """Rename the hierarchy to its final name.  Collective."""
        if self._additions is not None:
            if self._consolidates:
                consolidate(self._target, self._comm)
            self._additions.end()
            return
        assert self._staging_root is not None
        with collective_errors(self._fail):
            if self._folder is not None:
                try:
                    self._rename(self._staging_root)
                finally:
                    self._remove_folder()
            with agreed_errors():
                _core.broadcast_text(f"finish {self._target}", "", 0, self._comm)

    def discard(self, error: BaseException | None) -> None:
        """Remove the written data, and add to `error` the names of existing arrays that had been replaced already."""
        self._remove_folder()
        if self._additions is None:
            return
        if error is not None:
            _append_to_message(error, self._additions.describe_replaced())
        if self._comm.rank == 0:
            self._additions.remove()
        self._additions.end()

    @contextlib.contextmanager
    def restoring_names(self) -> Iterator[None]:
        """Replace the temporary name in errors by the caller's name of the hierarchy."""
        try:
            yield
        except Error as error:
            error.args = tuple(
                self._with_target(argument) if isinstance(argument, str) else argument for argument in error.args
            )
            if isinstance(error, OSError) and isinstance(error.filename, str):
                error.filename = self._with_target(error.filename)
            raise

    def _with_target(self, text: str) -> str:
        """Replace temporary names by the final names of the folders.

        Example: an array g/a of the new hierarchy b.zarr is written to .b.zarr.plait-host-7-0/b.zarr. If it is the
        first array there, .b.zarr.plait-host-7-0/.b.zarr.plait-host-7-1 becomes b.zarr; if b.zarr is in that folder but
        has no group g, it becomes b.zarr/g.
        """
        root = self._staging_root or self._root
        target = self._target.removeprefix(self._format)
        highest = self._missing[-1] if self._missing else self._array
        shown = "/".join([target.rstrip("/"), *highest.relative_to(root).parts])
        text = re.sub(rf"{re.escape(str(root.parent))}/{_TEMPORARY}", lambda _: shown, text)
        return text if self._staging_root is None else text.replace(str(self._staging_root), target)

    def _make_folder(self) -> None:
        remove_leftovers(self._target)
        prefix = temporary_prefix(self._root.name)
        while self._folder is None:
            folder = self._root.with_name(f"{prefix}{os.getpid()}-{next(_counter)}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            except OSError as error:
                raise store_error(
                    f"cannot make the folder of {self._target}: {error.strerror}; {make_advice(self._root, error)}",
                    error.errno,
                ) from error
            self._folder = folder
        # Other programs may remove the folder after this process has ended. The lock shows them that it still runs,
        # even if they do not see the process.
        self._lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _rename(self, finished: Path) -> None:
        if self._consolidates:
            consolidate_here(finished)
        try:
            if self._root.is_dir():
                take_owner_and_mode(finished, self._root)
            finished.rename(self._root)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise store_error(
                    f"cannot finish {self._target}: {error.strerror}; nothing was written there; check the folder "
                    f"{self._root.parent}, and copy again",
                    error.errno,
                ) from error
            alternative = next(
                candidate
                for number in itertools.count(1)
                if not os.path.lexists(candidate := Path(f"{self._root}.kept-{number}"))
            )
            finished.rename(alternative)
            raise store_error(
                f"cannot finish {self._target}: a folder with other data has appeared there since the copy began; that "
                f"one is unchanged, and the new data is in {alternative}; move it, or what is in it, to where you want "
                "it",
                errno.EEXIST,
            ) from error
        parent = os.open(self._root.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)

    def _remove_folder(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            os.close(self._lock)
            self._folder = None


def is_occupied(path: Path) -> bool:
    """Return True if the path exists and is not an empty folder."""
    return os.path.lexists(path) and (not path.is_dir() or holds_entries(path))


def _append_to_message(error: BaseException, clause: str) -> None:
    """Add a clause to the message of an error of Plait, or as a note (PEP 678) to another exception."""
    if not clause:
        return
    if isinstance(error, Error):
        error.args = (f"{error}; {clause}", *error.args[1:])
    else:
        error.__notes__ = [*getattr(error, "__notes__", []), clause]
