"""All formats of traces, in any language, for opening, reports, conversions, imports and help.

The formats of the library are listed in trace/src/trace/formats/registry.cpp; the formats that are read in Python are
listed here.
"""

from __future__ import annotations

from plait import _trace
from plait._base.errors import ArgumentError
from plait.trace.formats.format import Format, Functions


def _parquet() -> Functions:
    from plait.trace.formats.parquet import FUNCTIONS

    return FUNCTIONS


def _darshan() -> Functions:
    from plait.trace.formats.darshan import FUNCTIONS

    return FUNCTIONS


def _dftracer() -> Functions:
    from plait.trace.formats.dftracer import FUNCTIONS

    return FUNCTIONS


#: Formats that are read in Python, in the order in which they are recognized.
FORMATS: list[Format] = [
    Format("parquet", _parquet, foreign=False, endings=(".parquet", ".pq")),
    Format("darshan", _darshan),
    Format("dftracer", _dftracer, several=True),
]
_trace.name_other_formats([format.name for format in FORMATS])  # in errors of the library


def find(name: str) -> Format | None:
    """Return the format with this name if Python reads it; None if the library does.

    Raises:
        plait.ArgumentError: there is no format of that name.
    """
    for format in FORMATS:
        if format.name == name:
            return format
    if name not in read_names() + written_names():
        raise ArgumentError(
            f"there is no trace format '{name}'; these can be read: {', '.join(read_names())}; "
            f"these can be written: {', '.join(written_names())}"
        )
    return None


def read_names() -> list[str]:
    """Return the names of the formats that are read."""
    return [name for name, _, read, _ in _trace.trace_formats() if read] + [format.name for format in FORMATS]


def written_names() -> list[str]:
    """Return the names of the formats that are written."""
    library = [name for name, _, _, written in _trace.trace_formats() if written]
    return library + [format.name for format in FORMATS if format.endings]


def foreign_names() -> list[str]:
    """Return the names of the formats of other tools, which are only read."""
    python = [format.name for format in FORMATS if format.foreign]
    return python + [name for name, _, read, written in _trace.trace_formats() if read and not written]


def find_by_ending(path: str) -> Format | None:
    """Return the format with the ending of the target's name, if Python writes it."""
    return next((format for format in FORMATS if format.endings and path.endswith(format.endings)), None)


def target_format(path: str, name: str | None) -> Format | None:
    """Return the format of a target if it is written in Python, or None if the library writes it.

    Raises:
        plait.ArgumentError: there is no format of that name, it is only read, or the ending is not that of any format.
    """
    format = find(name) if name else find_by_ending(path)
    if format is not None and not format.endings:
        raise ArgumentError(f"traces in the format {format.name} are read, not written")
    if not name and not any(path.endswith(ending) for _, ending in name_endings()):
        raise ArgumentError(
            f"the name {path} does not tell the trace's format; name one of: {', '.join(written_names())}"
        )
    return format


def name_endings() -> list[tuple[str, str]]:
    """Return the names of the formats that are written, each with its ending of file names."""
    library = [(name, ending) for name, ending, _, written in _trace.trace_formats() if written and ending]
    return library + [(format.name, ending) for format in FORMATS for ending in format.endings]
