"""Ends a copy in parts: the target gets its name, or everything is removed."""

from __future__ import annotations

import errno
from collections.abc import Collection

from ..._base.errors import ArgumentError, store_error
from .._copy import CopyResult
from ..hierarchy.staging import is_occupied
from .beginning import check_sources
from .folder import PartRecord, PartsFolder, sync_folders
from .plan import PartsPlan


def finish(folder: PartsFolder, plan: PartsPlan) -> CopyResult:
    """Check that all parts have been copied, and give the target its name.

    errors  ArgumentError: parts are missing, or a source has changed.  StoreError
    """
    records = folder.records(plan)
    staged = folder.staged_root(plan)
    if staged.exists():
        _check_complete(folder, plan, records)
        check_sources(plan)
        folder.check_free()
        _rename_target(folder, plan)
    elif not is_occupied(folder.root):
        raise store_error(
            f"cannot finish {folder.target}: its unfinished folder {staged} is gone; discard the copy with --discard "
            "or plait.discard_copy(), and begin it again",
            errno.ENOENT,
        )
    result = _make_result(plan, records.values())
    folder.remove()
    return result


def discard(folder: PartsFolder) -> int:
    """Remove a copy in parts that has begun, even if its folder is damaged.

    Returns the bytes of the parts that had been copied.
    errors  ArgumentError: no copy has begun
    """
    if not folder.path.exists():
        folder.require_plan()
    copied = 0
    try:
        plan = folder.read_plan()
        if plan is not None:
            copied = sum(record.bytes for record in folder.records(plan).values())
    except ArgumentError:
        pass  # a plan of another version, or a damaged file, is removed too
    folder.remove()
    return copied


def _check_complete(folder: PartsFolder, plan: PartsPlan, recorded: Collection[int]) -> None:
    for phase in range(len(plan.phases)):
        if missing := folder.describe_missing(plan, phase, recorded):
            raise ArgumentError(f"cannot finish {folder.target}: {missing}; copy these first")


def _rename_target(folder: PartsFolder, plan: PartsPlan) -> None:
    staged = folder.staged_root(plan)
    sync_folders([staged])
    try:
        staged.rename(folder.root)
    except FileNotFoundError:  # another process has just finished the copy
        if not is_occupied(folder.root):
            raise
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            folder.check_free()
        raise store_error(
            f"cannot finish {folder.target}: {error.strerror}; all parts are in {folder.path}; check the folder "
            f"{folder.root.parent}, and finish again",
            error.errno,
        ) from error
    sync_folders([folder.root.parent])


def _make_result(plan: PartsPlan, records: Collection[PartRecord]) -> CopyResult:
    first = plan.arrays[0]
    return CopyResult(
        first.shape,
        first.dtype,
        plan.bytes,
        sum(record.seconds for record in records),
        sum(record.windows for record in records),
        1,
    )
