"""The targets of a copy: pipes, and files, either one for all arrays or one for each step and array."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, ClassVar

from .. import _core
from .._arguments.buffers import to_path_text
from .._base.errors import ArgumentError, Error
from .._calls.comm import CommLike, to_core_comm
from .._calls.guard import collective_errors, fail_here
from .._core import ArrayDescription, Content, FileOptions, Layout
from .._file.arrays_in import SEPARATOR, GroupInfo, split_name
from .._file.file import File
from .._file.location import local_path, locate_new
from .._file.open import UnfinishedPolicy, open_as
from .._file.steps import VARIABLE
from .attributes import TargetAttributes
from .boxes import Storage
from .hierarchy.consolidating import consolidate
from .hierarchy.folders import check_mount_point
from .hierarchy.library_copies import LibraryCopies
from .hierarchy.objects import ObjectAdditions
from .hierarchy.staging import Stage
from .names import OverlapCheck, TargetName, find_hierarchy
from .resume.journal import Journal
from .selection import copied_names, select_groups
from .steps import Region, SkippedArray, SourceStep, StepArray
from .storage_request import StorageRequest


@dataclass(frozen=True)
class TargetFactory:
    """Opens the files and pipes of a target, with the options that describe their arrays."""

    comm: CommLike
    memory: int
    storage: StorageRequest = field(default_factory=StorageRequest)
    journal: Journal | None = None
    """The journal of a resumable copy."""
    hierarchies_appear_whole: bool = True
    """True if new hierarchies appear as a whole; False in resumable copies, where they grow array by array."""
    durable: bool | None = None
    """The argument `durable` of :func:`plait.open`."""
    resumes_uploads: bool = False
    """True to resume the unfinished upload of a target that is one object, and to leave it if the copy fails."""
    writes: ClassVar[bool] = True
    attributes: TargetAttributes = field(default_factory=TargetAttributes)

    def check(self, name: str, array: StepArray) -> None:
        """Check whether a target accepts an array, without opening the target.  errors  ArgumentError"""
        self.new_content(name, FileOptions(self.storage.describe(name, array)))

    def new_content(self, name: str, options: FileOptions) -> Content:
        """Describe a new array as a target would store it, without opening the target.  errors  ArgumentError"""
        return _core.new_array(name, options)

    def options(self, name: str, array: StepArray, groups: tuple[GroupInfo, ...]) -> FileOptions:
        """Return the options that make a target for an array.  groups: the groups that contain it"""
        options = FileOptions(self._describe_new_array(name, array))
        options.groups = self.attributes.select_for_groups(name, groups, [array.name])
        return options

    def make_all_options(
        self, name: str, step: SourceStep, arrays: tuple[StepArray, ...], groups: tuple[GroupInfo, ...]
    ) -> FileOptions:
        """Return the options that make a target for named arrays of a step, and for those that the library copies."""
        options = FileOptions()
        options.arrays = [self._describe_new_array(name, array) for array in arrays]
        options.groups = self.attributes.select_for_groups(name, groups, copied_names(step, arrays))
        options.library_copies = (step.file, [(array.name, array.name) for array in step.library_copied])
        options.skips_library_copies = any(array.is_optional for array in step.library_copied)
        return options

    def _describe_new_array(self, name: str, array: StepArray) -> ArrayDescription:
        described = self.storage.describe(name, array)
        described.attributes = self.attributes.select_for_array(name, array)
        return described

    def open(self, name: str, options: FileOptions, keys: Sequence[str] = ("",)) -> File:
        """Open a target.  keys: the names of its arrays in the journal."""
        options.memory, options.durable = self.memory, self.durable

        def make(unfinished: UnfinishedPolicy) -> File:
            options.keeps_unfinished, options.continues = unfinished == "keep", unfinished == "continue"
            return open_as(to_path_text(name), "w", self.comm, options)

        if self.journal is None:  # an object needs no journal: its server lists the parts that it has
            return make("continue" if self.resumes_uploads and locate_new(name).supports_unfinished else "remove")
        return self.journal.open(list(keys), name, make)

    def stored(self, file: File, array: StepArray) -> Storage:
        """Return how a target stores an array."""
        if array.name in file._types:  # the file has several arrays
            file._select(array.name, fail=fail_here)
        described = self.storage.describe(file.url, array)
        content = Content(array.shape, described.order, 0, file._core.chunk, self.storage.compresses(array))
        content.shards = described.shards
        return Storage(content)


def journal_key(step: int, array: StepArray) -> str:
    """Return the name of an array in the journal."""
    return f"{step}/{array.name}"


def is_whole_file(name: str) -> bool:
    """Return True if a name denotes a file that can have named arrays, and not one of its arrays."""
    with contextlib.suppress(ArgumentError, TypeError):  # opening it raises the error
        resolved = locate_new(name)
        return resolved.names_arrays and resolved.file == resolved.name
    return False


def _reject_fields_of_arrays(name: TargetName) -> None:
    """Reject a name with a field only after ``::``: each step or array would replace the whole file.

    Example: ``out.h5::{variable}``
    errors  ArgumentError
    """
    file, separator, array = split_name(name.text)
    fields, file_fields = TargetName(array), TargetName(file)
    is_distinct = file_fields.has_step >= fields.has_step and file_fields.has_variable >= fields.has_variable
    resolved = locate_new(file)
    if separator and not is_distinct and resolved.names_arrays and not resolved.adds_arrays:
        raise ArgumentError(
            f"{name.text}: each array would replace the file {file} with those before it; copy all arrays at once into "
            f"{file}, or put {{step}} or {{variable}} into the name of the file"
        )


class FileTarget:
    """Files, which appear whole: at the end of their step, or of the copy if the name has no field for the step.

    The arrays of a new hierarchy of folders appear together; in an existing hierarchy each appears when it is complete.
    """

    in_one_piece = False
    is_serial = False

    def __init__(self, name: TargetName, factory: TargetFactory, overlap_check: OverlapCheck) -> None:
        """Store the name of the target."""
        self._holds_arrays = is_whole_file(name.text)
        self._is_hierarchy = self._holds_arrays and locate_new(name.text).adds_arrays
        _reject_fields_of_arrays(name)
        self.accepts_several = name.has_variable or self._holds_arrays
        self._name, self._factory, self._overlap_check = name, factory, overlap_check
        self._open_files: dict[str, File] = {}
        self._file_of_all: File | None = None
        self._stack = contextlib.ExitStack()
        self.has_begun_step = False
        self._in_hierarchy = False
        self._new_hierarchy = ""  # the name of the hierarchy, if it gets several arrays
        self._to_consolidate: list[str] = []  # hierarchies whose metadata is consolidated at the end
        self._stage: Stage | None = None  # the temporary folder of a new hierarchy
        self._object_additions: ObjectAdditions | None = None  # to a hierarchy in an object store
        self._selected_groups: tuple[GroupInfo, ...] = ()
        self._step_number = 0
        self._journal_keys: list[str] = []  # journal keys of arrays that are not visible yet
        self._library_copies = LibraryCopies(to_core_comm(factory.comm), factory.attributes)

    def __enter__(self) -> FileTarget:
        """Return itself; a file is made with its step."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Discard incomplete output."""
        try:
            self._stack.__exit__(kind, error, trace)
        finally:
            if self._stage is not None:
                self._stage.discard(error)
            if self._object_additions is not None and to_core_comm(self._factory.comm).rank == 0:
                with contextlib.suppress(Error):  # the error of the copy matters more
                    self._object_additions.remove()

    @property
    def left_out(self) -> list[SkippedArray]:
        """The arrays that the library has left out, because they refer to others that are not copied."""
        return self._library_copies.left_out

    @property
    def copies_objects(self) -> bool:
        """True if the library of the target's format copies arrays into it that Plait does not read."""
        return self._holds_arrays and not self._name.has_variable and locate_new(self._name.text).copies_objects

    def check(self, step: SourceStep, arrays: tuple[StepArray, ...]) -> None:
        """Reject targets that are sources, and two arrays with the same target."""
        self._factory.storage.check_names(arrays)
        names = [self._name.expand(step.number, array.name) for array in arrays]
        for name in dict.fromkeys(names):
            self._overlap_check.check(name)
            check_mount_point(name)
        adds_several = self._is_hierarchy and len(arrays) > 1 and not self._name.has_variable
        self._new_hierarchy = names[0] if adds_several else ""
        self._to_consolidate = names[:1] if adds_several else [*dict.fromkeys(filter(None, map(find_hierarchy, names)))]
        if len(set(names)) < len(names) and not self._holds_arrays:
            raise ArgumentError(f"{self._name.text} is one file for several arrays; put {{variable}} into its name")
        self._check_consolidation()

    def _check_consolidation(self) -> None:
        """Apply the caller's choice of consolidated metadata.  errors  ArgumentError: it cannot be written"""
        requested = self._factory.storage.consolidated
        if requested and not (self._to_consolidate and all(map(local_path, self._to_consolidate))):
            raise ArgumentError(
                f"consolidated=True was given, but {self._name.text} "
                + ("is in an object store" if self._to_consolidate else "becomes an array without a group around it")
                + ", for which Plait writes no consolidated metadata; leave it out"
            )
        if requested is False:
            self._to_consolidate = []

    def check_array(self, step: SourceStep, array: StepArray) -> None:
        """Check whether an array can be written."""
        name = self._name.expand(step.number, array.name)
        if self._holds_arrays and not self._name.has_variable and array.name != VARIABLE:
            name += SEPARATOR + array.name
        self._factory.check(name, array)

    def begin(self, step: SourceStep, arrays: tuple[StepArray, ...]) -> None:
        """Begin a step."""
        if self.has_begun_step and not self._name.has_step:
            raise ArgumentError(
                f"the source has a second step, but {self._name.text} holds only one, and was not written; put "
                "{step} into its name, as in 'field-{step}.npy', to write a file for each, "
                "or copy only the first with steps=1"
            )
        self.has_begun_step = True
        self._step_number = step.number
        self._file_of_all = None
        self._selected_groups = select_groups(step, arrays)
        self._in_hierarchy = self._is_hierarchy and len(arrays) > 1
        if self._new_hierarchy and self._factory.hierarchies_appear_whole:
            if local_path(self._new_hierarchy) is not None:
                comm = to_core_comm(self._factory.comm)
                self._stage = Stage(
                    self._new_hierarchy, comm, consolidates=self._factory.storage.consolidated is not False
                )
            else:
                self._object_additions = ObjectAdditions(self._new_hierarchy)
        # A single array that the source does not name is not opened by name, so that the format names it.
        if (
            self._holds_arrays
            and not self._is_hierarchy
            and not self._name.has_variable
            and (step.library_copied or [(array.name, array.named) for array in arrays] != [(VARIABLE, False)])
        ):
            name = self._name.expand(step.number, "")
            self._journal_keys = [journal_key(step.number, array) for array in arrays]
            options = self._factory.make_all_options(name, step, arrays, self._selected_groups)
            self._file_of_all = self._stack.enter_context(self._factory.open(name, options, self._journal_keys))
            if self._factory.writes:
                self._library_copies.begin(name, step)

    def begin_array(self, array: StepArray) -> Storage | None:
        """Make the file of an array."""
        if self._file_of_all is not None:
            return self._factory.stored(self._file_of_all, array)
        name = self._name.expand(self._step_number, array.name)
        if self._in_hierarchy:
            self._close_files()
            if self._stage is not None:
                self._stage.begin_array(array.name)
                name = self._stage.path
            elif self._object_additions is not None and to_core_comm(self._factory.comm).rank == 0:
                with collective_errors(partial(_core.fail, comm=to_core_comm(self._factory.comm))):
                    self._object_additions.record(array.name)
            name += SEPARATOR + array.name
        key = journal_key(self._step_number, array)
        with self._restoring_names():
            options = self._factory.options(name, array, self._selected_groups)
            file = self._stack.enter_context(self._factory.open(name, options, [key]))
        if self._stage is not None:
            self._stage.record_array(file._core.unfinished_path)
        self._journal_keys.append(key)
        self._open_files[array.name] = file
        return self._factory.stored(file, array)

    def _restoring_names(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self._stage is None else self._stage.restoring_names()

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read back a window."""
        if self._file_of_all is not None:
            self._file_of_all.read(layout, out, region=region, variable=array.name)
        else:
            with self._restoring_names():
                self._open_files[array.name].read(layout, out, region=region)

    def write(self, array: StepArray, layout: Layout, given: Any, region: Region) -> None:
        """Write a window."""
        if self._file_of_all is not None:
            self._file_of_all.write(given, layout, region=region, variable=array.name)
        else:
            with self._restoring_names():
                self._open_files[array.name].write(given, layout, region=region)

    def end(self) -> None:
        """Make the files of a step visible if further steps can follow."""
        if self._name.has_step:
            self.finish()

    def finish(self) -> None:
        """Make the files visible."""
        self._close_files()
        self._object_additions = None
        if self._stage is not None:
            self._stage.commit()
            self._stage = None
            self._to_consolidate.clear()  # the stage consolidates its hierarchy
        for root in self._to_consolidate if self._factory.writes else []:
            consolidate(root, to_core_comm(self._factory.comm))
        self._library_copies.finish()
        if to_core_comm(self._factory.comm).rank == 0:
            self._factory.attributes.warn()

    def _close_files(self) -> None:
        """Close the open files, which makes them visible, and record in the journal that they are complete."""
        with self._restoring_names():
            self._stack.close()
        if self._object_additions is not None:
            self._object_additions.add()
        self._open_files.clear()
        if self._factory.journal is not None:
            self._factory.journal.finish(self._journal_keys)
        self._journal_keys.clear()


class PipeTarget:
    """A pipe that gets each step of the source."""

    in_one_piece = True
    is_serial = False
    accepts_several = True

    def __init__(self, name: str | os.PathLike[str], factory: TargetFactory, opened: StepArray | None) -> None:
        """Store the name of the pipe.

        opened  the array for which the pipe is opened; by default the first array
        """
        self._name, self._factory, self._first_array = name, factory, opened
        self._file: File | None = None
        self._defined_arrays: dict[str, StepArray] = {}

    def __enter__(self) -> PipeTarget:
        """Return the target; the pipe is opened when its first arrays are known."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Report the end or an error to the readers."""
        if self._file is not None and not self._file.closed:
            self._file.__exit__(kind, error, trace)

    def check(self, step: SourceStep, arrays: tuple[StepArray, ...]) -> None:
        """Accept any arrays: a pipe is never a file of a source."""

    def check_array(self, step: SourceStep, array: StepArray) -> None:
        """Accept every array: pipes have all types."""

    def begin(self, step: SourceStep, arrays: tuple[StepArray, ...]) -> None:
        """Begin a step with the same attributes; the pipe numbers its steps itself."""
        if self._file is None:
            first = self._defined_arrays[VARIABLE] = self._first_array or arrays[0]
            name = os.fsdecode(self._name)
            self._file = self._factory.open(name, self._factory.options(name, first, ()))
        self._file.begin_step(step.attributes)

    def begin_array(self, array: StepArray) -> Storage | None:
        """Define the array if it is new or has changed."""
        assert self._file is not None
        known = self._defined_arrays.get(array.name)
        if known is None or (known.shape, known.dtype) != (array.shape, array.dtype):
            self._file.define(array.name, array.shape, array.dtype)
            self._defined_arrays[array.name] = array
        return None

    def write(self, array: StepArray, layout: Layout, given: Any, region: Region) -> None:
        """Write an array."""
        assert self._file is not None
        self._file.write(given, layout, variable=array.name)

    def end(self) -> None:
        """Hand the step to the readers."""
        assert self._file is not None
        self._file.end_step()

    def finish(self) -> None:
        """Wait until the readers have received all steps."""
        if self._file is not None:
            self._file.close()
