"""A source that decodes packed elements to floating point while they are copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .._arguments.array_types import array_type
from .._arguments.values import Array
from .._calls.guard import Reporter, collective_errors
from .._core import Layout
from .._file.arrays_in import decode_fill_value
from .._file.attributes import Attributes, encode_attributes
from .._views.decoding import Packing, has_fill_of_zarr_2
from .steps import Region, Source, SourceStep, StepArray, WrappedSource


class UnpackedSource(WrappedSource):
    """A source whose packed arrays are decoded."""

    def __init__(self, source: Source, fail: Reporter) -> None:
        """Wrap the source."""
        super().__init__(source, fail)
        self._packed: dict[str, tuple[StepArray, Packing]] = {}

    def steps(self) -> Iterator[SourceStep]:
        """Yield the steps; their arrays have the type and attributes of the decoded elements."""
        for step in self._source.steps():
            self._packed = {}
            with collective_errors(self._fail):
                arrays = tuple(self._describe_decoded(array) for array in step.arrays)
            yield replace(step, arrays=arrays)

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read an array, or a window of it, and decode it."""
        if array.name not in self._packed:
            self._source.read(array, layout, out, region)
            return
        stored, packing = self._packed[array.name]
        targets = [] if out is None else out if isinstance(out, list) else [out]
        with collective_errors(self._fail):
            arrays = [np.empty_like(target, dtype=stored.dtype) for target in targets]
        output: Any = None if out is None else arrays if isinstance(out, list) else arrays[0]
        self._source.read(stored, layout, output, region)
        with collective_errors(self._fail), np.errstate(all="ignore"):
            for encoded, target in zip(arrays, targets, strict=True):
                packing.decode(encoded, target)

    def _describe_decoded(self, array: StepArray) -> StepArray:
        attributes = Attributes(array.content.attributes)
        value = decode_fill_value(array.content, array.dtype)
        fill = value if has_fill_of_zarr_2(attributes) else None
        packing = Packing.from_attributes(array.dtype, attributes, fill, f"{self.name}: {array.name}")
        if packing is None:
            return array
        self._packed[array.name] = (array, packing)
        decoded = packing.decoded_attributes(attributes)
        if packing.missing:
            decoded["_FillValue"] = packing.dtype.type(np.nan)
        content = array.content_with(
            type=array_type(array.shape, packing.dtype, array.order),
            fill=b"" if value is None else _decode_fill(np.asarray(value, array.dtype), packing),
            attributes=[
                *encode_attributes(decoded),
                *(attribute for attribute in attributes.stored if attribute.error),
            ],
        )
        return replace(array, content=content, extra_bytes=array.extra_bytes + array.dtype.itemsize)


def _decode_fill(value: Array, packing: Packing) -> bytes:
    decoded = np.empty((), packing.dtype)
    packing.decode(value, decoded)
    return decoded.tobytes()
