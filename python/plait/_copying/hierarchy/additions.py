"""Records the arrays that a copy puts into an existing hierarchy, so that a failed copy can remove them.

The folder of an array is renamed when the array is complete, and keeps its inode. A copy records the inodes while
the folders still have temporary names. A path is removed only if it leads to a recorded inode. Example: a copy writes
``b`` as inode 17, and another program creates ``b`` as inode 23 first. The copy fails because the name is taken, finds
23 at ``b``, and leaves it alone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from .consolidating import GROUP_FILES_2, METADATA, consolidate_here, is_consolidated

Inode = tuple[str, int, int]
"""The path that a folder gets, and the device and number of its inode."""
active: list[Additions] = []
"""The additions of all copies of this process that are still running."""


@dataclass
class Additions:
    """Arrays that a copy has added to a hierarchy, or replaced there."""

    target: str
    """The hierarchy as the caller names it."""
    root: str
    """The path of the hierarchy."""
    consolidated: bool = False
    """True if it had consolidated metadata when the copy began."""
    added: list[list[Inode]] = field(default_factory=list)
    """For each new array: its folder, then the folders of the new groups that contain it, innermost first."""
    replaced: list[Inode] = field(default_factory=list)
    """Folders of arrays that replace existing ones."""

    @classmethod
    def begin(cls, target: str, root: Path) -> Additions:
        """Return the additions of a copy that begins, and make them active."""
        additions = cls(target, str(root), is_consolidated(root))
        active.append(additions)
        return additions

    def record(self, folder: Path, missing: list[Path], temporary: Path) -> None:
        """Record an array before it is complete.

        folder     the path that the array gets
        missing    that path and those of the groups above it that do not exist, innermost first
        temporary  the folder of the array under its temporary name
        """
        inodes: list[Inode] = []
        for path in missing or [folder]:
            status = temporary.stat()
            inodes.append((str(path), status.st_dev, status.st_ino))
            temporary = temporary.parent
        if missing:
            self.added.append(inodes)
        else:
            self.replaced += inodes

    def remove(self) -> None:
        """Remove the added arrays and groups; groups stay if other programs have put something into them."""
        for array, *groups in reversed(self.added):
            if not _has_inode(array):
                continue
            shutil.rmtree(array[0], ignore_errors=True)
            for group in groups:
                if not _has_inode(group) or holds_entries(Path(group[0]), besides=(METADATA, *GROUP_FILES_2)):
                    break
                shutil.rmtree(group[0], ignore_errors=True)
        if self.consolidated:
            consolidate_here(Path(self.root))

    def describe_replaced(self) -> str:
        """Return a clause about the arrays that have been replaced; empty if there are none."""
        names = [os.path.relpath(inode[0], self.root) for inode in self.replaced if _has_inode(inode)]
        if not names:
            return ""
        if len(names) == 1:
            return f"array {names[0]} of {self.target} had been replaced already and has the new data"
        return f"arrays {', '.join(names)} of {self.target} had been replaced already and have the new data"

    def end(self) -> None:
        """Remove these additions from the list `active`."""
        if self in active:
            active.remove(self)


def holds_entries(folder: Path, besides: tuple[str, ...] = ()) -> bool:
    """Return True if a folder contains anything but files with the given names."""
    return any(entry.name not in besides for entry in folder.iterdir())


def _has_inode(inode: Inode) -> bool:
    path, device, number = inode
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        return (status.st_dev, status.st_ino) == (device, number)
    return False
