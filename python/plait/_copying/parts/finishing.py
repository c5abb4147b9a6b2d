"""Ends a copy in parts: the target gets its name, or everything is removed."""

from __future__ import annotations

import errno

from ..._base.errors import ArgumentError, store_error
from .._copy import CopyResult
from ..hierarchy.consolidating import METADATA, consolidate_here
from ..hierarchy.staging import is_there
from .beginning import check_sources
from .folder import PartsFolder, sync_folders
from .plan import PartsPlan


def finish(folder: PartsFolder, identifier: str | None) -> CopyResult:
    """Check that all parts have been copied, and give the target its name.

    identifier  that of the plan that is expected; None for any
    errors      ArgumentError: parts are missing, or a source has changed.  StoreError
    """
    plan = folder.require_plan()
    if identifier not in (None, plan.identifier):
        raise ArgumentError(
            f"these tasks belong to another copy in parts to {folder.target}: they are of the plan {identifier}, and "
            f"that of the copy that has begun is {plan.identifier}; use the tasks that the last plait.copy_tasks() has "
            "returned"
        )
    staged = folder.staged_root(plan)
    if staged.exists():
        _check_complete(folder, plan)
        check_sources(plan)
        folder.check_free()
        consolidates = plan.values.get("consolidated") is not False
        if consolidates and len(plan.arrays) > 1 and (staged / METADATA).is_file():
            consolidate_here(staged)
        _rename(folder, plan)
    elif not is_there(folder.root):
        raise store_error(
            f"cannot finish {folder.target}: its unfinished folder {staged} is gone; discard the copy with --discard "
            "or plait.discard_copy(), and begin it again",
            errno.ENOENT,
        )
    result = _result(folder, plan)
    folder.remove()
    return result


def discard(folder: PartsFolder) -> int:
    """Remove a copy in parts that has begun, also a damaged one.

    Returns the bytes of the parts that had been copied.
    errors  ArgumentError: no copy has begun
    """
    if not folder.path.exists():
        folder.require_plan()
    copied = 0
    try:
        plan = folder.read_plan()
        if plan is not None:
            copied = sum(record.bytes for record in folder.done(plan, range(1, plan.parts + 1)).values())
    except ArgumentError:
        pass  # a plan of another version, or a damaged file, is removed too
    folder.remove()
    return copied


def _check_complete(folder: PartsFolder, plan: PartsPlan) -> None:
    for phase in range(len(plan.phases)):
        if missing := folder.missing(plan, phase):
            raise ArgumentError(
                f"cannot finish {folder.target}: {folder.describe_missing(plan, phase, missing)}; copy these first"
            )


def _rename(folder: PartsFolder, plan: PartsPlan) -> None:
    staged = folder.staged_root(plan)
    sync_folders([staged])
    try:
        staged.rename(folder.root)
    except FileNotFoundError:  # another process has just finished the copy
        if not is_there(folder.root):
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


def _result(folder: PartsFolder, plan: PartsPlan) -> CopyResult:
    records = folder.done(plan, range(1, plan.parts + 1)).values()
    first = plan.arrays[0]
    return CopyResult(
        first.shape,
        first.dtype,
        plan.bytes,
        sum(record.seconds for record in records),
        sum(record.windows for record in records),
        1,
    )
