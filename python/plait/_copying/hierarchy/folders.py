"""Checks that the folder of a new hierarchy can be made, and gives it the owner and mode of the folder it replaces."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from ..._base.errors import store_error
from ..._file.location import locate_new


def check_mount_point(target: str) -> None:
    """Reject a hierarchy that is a mount point: a new folder is made next to it, so on another file system.

    errors  StoreError: EBUSY
    """
    resolved = locate_new(target)
    if (
        not resolved.adds_arrays
        or not resolved.path
        or not os.path.ismount(os.path.realpath(path := locate_new(resolved.file).path))
    ):
        return
    raise store_error(
        f"cannot write to {target}: {path} is a mount point, whose folder cannot be replaced; give a path in it, such "
        f"as {os.path.join(path, 'data.zarr')}",
        errno.EBUSY,
    )


def make_advice(path: Path, error: OSError) -> str:
    """Return advice after the system has failed to make a file or a folder."""
    if error.errno == errno.ENOENT:
        return f"create the folder {path.parent} first"
    if error.errno == errno.ENOTDIR:
        return "give a path in a folder"
    return f"check that the folder {path.parent} can be written to"


def take_owner_and_mode(folder: Path, existing: Path) -> None:
    """Give a folder the owner, the group and the permissions of an existing one, as far as the system permits.

    If the group cannot be set, the folder's group gets no more rights than all other users have.
    """
    status = existing.stat()
    mode = stat.S_IMODE(status.st_mode)
    for owner in (status.st_uid, -1):
        try:
            os.chown(folder, owner, status.st_gid)
            break
        except PermissionError:
            continue
    if folder.stat().st_gid != status.st_gid:
        other_rights = mode & stat.S_IRWXO
        mode &= ~stat.S_IRWXG | other_rights << 3
    if folder.stat().st_uid != status.st_uid or folder.stat().st_gid != status.st_gid:
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
    folder.chmod(mode)
