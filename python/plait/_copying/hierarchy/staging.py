"""New hierarchies of folders with several arrays: they appear whole, or not at all.

Each array of a hierarchy such as ``a.zarr`` is a folder that is written on its own. If ``a.zarr`` is new, all arrays
are written to ``.a.zarr.plait-HOST-PROCESS-NUMBER/a.zarr``, which is renamed to ``a.zarr`` after the last array. If
arrays are added to an existing hierarchy, each appears when it is complete, and a copy that fails removes the arrays
that it has added.
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
from ..._errors import Error, store_error
from ..._guard import agreed_already, checks
from ..._location import locate_new
from ..leftovers import remove_leftovers, temporary_prefix
from .consolidating import METADATA, consolidate, consolidate_here

_counter = itertools.count()
_FORMAT = "zarr:"
"""The prefix of a new hierarchy without the suffix ``.zarr``."""


class Stage:
    """A temporary folder for the arrays of a new hierarchy until all of them are written."""

    def __init__(self, target: str, comm: _core.Comm) -> None:
        """Create the folder.  Collective."""
        self._target, self._comm = target, comm
        self._format = _FORMAT if target.startswith(_FORMAT) else ""
        self._refuse = partial(_core.refuse, comm=comm)
        self._lock = -1
        self._folder: Path | None = None
        self._added: list[tuple[Path, Path]] = []
        with checks(self._refuse):
            self._root = Path(locate_new(target).path)
            if comm.rank == 0 and not _is_there(self._root):
                self._make()
            with agreed_already():
                folder_json = _core.tell(f"stage {target}", json.dumps(str(self._folder or "")), 0, comm)
        folder = json.loads(folder_json)
        self._made = Path(folder) / self._root.name if folder else None
        self.path = f"{self._format}{self._made}" if self._made else target
        """The name of the hierarchy that arrays are written to."""

    def begin_array(self, name: str) -> None:
        """Record an array that is added to an existing hierarchy, so that discard() can remove it."""
        if self._made is not None or self._comm.rank != 0:
            return
        folder = self._root.joinpath(*[part for part in name.split("/") if part])
        above = [path for path in (folder, *folder.parents) if path.is_relative_to(self._root)]
        missing = [path for path in above if not os.path.lexists(path)]
        if missing:
            self._added.append((folder, missing[-1]))

    def commit(self) -> None:
        """Rename the hierarchy to its final name.  Collective."""
        self._added.clear()
        if self._made is None:
            consolidate(self._target, self._comm)
            return
        with checks(self._refuse):
            if self._folder is not None:
                try:
                    self._rename(self._made)
                finally:
                    self._remove_folder()
            with agreed_already():
                _core.tell(f"finish {self._target}", "", 0, self._comm)

    def discard(self) -> None:
        """Remove what was written."""
        self._remove_folder()
        for folder, highest in self._added:
            shutil.rmtree(folder, ignore_errors=True)
            for group in folder.parents:
                # Another program may have added an array to the group.
                if not group.is_relative_to(highest) or _is_there(group, besides=METADATA):
                    break
                shutil.rmtree(group, ignore_errors=True)
        self._added.clear()

    @contextlib.contextmanager
    def naming(self) -> Iterator[None]:
        """Replace the temporary name in errors by the name that the caller passed."""
        try:
            yield
        except Error as error:
            error.args = tuple(self._with_target(text) if isinstance(text, str) else text for text in error.args)
            if isinstance(error, OSError) and isinstance(error.filename, str):
                error.filename = self._with_target(error.filename)
            raise

    def _with_target(self, text: str) -> str:
        """Replace paths of the hierarchy in the temporary folder by the target."""
        if self._made is None:
            return text
        names = rf"(?:\.[^/]*\.plait-[^/]*|{re.escape(self._made.name)})"
        target = self._target.removeprefix(self._format)
        return re.sub(rf"{re.escape(str(self._made.parent))}/{names}", lambda _: target, text)

    def _make(self) -> None:
        remove_leftovers(self._target)
        prefix = temporary_prefix(self._root.name)
        while self._folder is None:
            folder = self._root.with_name(f"{prefix}{os.getpid()}-{next(_counter)}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            self._folder = folder
        # Others remove the folder after this process has ended. They test the lock if they cannot see the process.
        self._lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _rename(self, staged: Path) -> None:
        consolidate_here(staged)
        try:
            staged.rename(self._root)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise
            candidates = (Path(f"{self._root}.kept-{number}") for number in itertools.count(1))
            spare = next(path for path in candidates if not os.path.lexists(path))
            staged.rename(spare)
            raise store_error(
                f"cannot finish {self._target}: a folder with other data has appeared there since the copy began; that "
                f"one is unchanged, and the new data is in {spare}; move it, or what is in it, to where you want it",
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


def _is_there(path: Path, besides: str = "") -> bool:
    """Whether the path exists and is not a folder that is empty but for a file called `besides`."""
    return os.path.lexists(path) and not (path.is_dir() and all(entry.name == besides for entry in path.iterdir()))
