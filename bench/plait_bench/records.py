"""The records of `plait bench columbus`: compressed coefficients that change size when they are updated.

They stand in for the expansion vectors of COLUMBUS, which have many zeros and otherwise incompressible values. The
number of a record and its number of updates determine its content, so that it can be checked at any time.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

# The record, its version, the CRC-32 of the values; padded to whole words, so that the values are aligned.
_HEADER = struct.Struct("<qqI4x")
_LEVEL = 1  # the fastest level; higher levels do not compress these values better
_MIN_NONZERO, _MAX_NONZERO = 0.3, 0.7  # bounds of the fraction of a record's values that is not zero
_SAMPLES = 16  # records from which a mean size is estimated


class DamagedError(Exception):
    """The data that was read is not the last written version of the record."""


def first_values(record: int, count: int) -> Values:
    """Return the values of a record before its first update."""
    return next_values(np.zeros(count), record, 0)


def next_values(values: Values, record: int, version: int) -> Values:
    """Return the values of a version, computed from those of the previous version; the number of zeros changes."""
    random = np.random.default_rng((record, version))
    nonzero = random.random(values.size) < random.uniform(_MIN_NONZERO, _MAX_NONZERO)
    return np.where(nonzero, values + random.standard_normal(values.size), 0.0)


def expected_values(record: int, version: int, count: int) -> Values:
    """Return the expected values of a record after `version` updates, computed from the start."""
    values = first_values(record, count)
    for number in range(1, version + 1):
        values = next_values(values, record, number)
    return values


def encode_record(record: int, version: int, values: Values) -> bytes:
    """Return the compressed bytes of a record."""
    raw = values.tobytes()
    return zlib.compress(_HEADER.pack(record, version, zlib.crc32(raw)) + raw, _LEVEL)


def decode_record(data: Any, record: int, version: int) -> Values:
    """Return the values in the bytes of a record.

    errors  DamagedError: the bytes are damaged, or belong to another record or version
    """
    try:
        raw = zlib.decompress(data)
    except zlib.error as error:
        raise DamagedError(f"record {record}: {error}") from error
    stored_record, stored_version, stored_checksum = _HEADER.unpack_from(raw)
    body = memoryview(raw)[_HEADER.size :]
    if zlib.crc32(body) != stored_checksum:
        raise DamagedError(f"record {record}: the checksum is wrong")
    if (stored_record, stored_version) != (record, version):
        raise DamagedError(
            f"version {version} of record {record} was expected, and {stored_version} of {stored_record} found"
        )
    return np.frombuffer(body, np.float64)


def estimate_value_count(size: int) -> int:
    """Return the number of values whose records have `size` bytes on average, estimated from a few samples."""
    guess = max(1, size // 4)  # on average half of the values are zero, so that a value of 8 bytes needs about 4
    mean = sum(len(encode_record(record, 0, first_values(record, guess))) for record in range(_SAMPLES)) / _SAMPLES
    return max(1, round(guess * size / mean))


def max_record_bytes(count: int) -> int:
    """Return the maximum compressed bytes of a record of `count` values, by the formula of zlib's compressBound()."""
    raw = _HEADER.size + 8 * count
    return raw + (raw >> 12) + (raw >> 14) + (raw >> 25) + 13
