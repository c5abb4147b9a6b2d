"""Prints the plan of `plait copy --dry-run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plait._base.amounts import count, seconds, shown, size
from plait.cli.support import output

if TYPE_CHECKING:
    from plait.cli.copying.running import CopySummary

_HEAD = ("array", "pass", "windows", "of", "reads", "read", "writes", "written", "predicted")


def print_plan(job: dict[str, Any], result: CopySummary) -> None:
    """Print a line for each pass over each array, then the memory and the transfers of all passes."""
    source = job["source"] if isinstance(job["source"], str) else f"{job['source'][0]} and more"
    rows = [_HEAD]
    for array in result.plan:
        for number, one in enumerate(array["passes"]):
            first = number == 0
            name = f"{shown(array['name'])} {_shape(array['shape'])} {array['dtype']}" if first else ""
            time = "not known" if one["seconds"] is None else seconds(one["seconds"])
            rows.append(
                (
                    name,
                    f"{one['source']} to {one['target']}",
                    f"{one['windows']:,}",
                    _shape(one["window"]),
                    _end(one["read"]),
                    size(one["read"]["bytes"]),
                    _end(one["write"]) + (_properties(array) if one["target"] == "target" else ""),
                    size(one["write"]["bytes"]),
                    time,
                )
            )
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD))]
    console = output()
    for row in rows:
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        console.print(line.rstrip(), soft_wrap=True, markup=False)
    for array in result.plan:
        if array["is_library_copy"]:
            line = f"{shown(array['name'])} is copied by the library of its format, as it is and by one rank"
            console.print(f"{line}: {shown(array['library'])}", soft_wrap=True, markup=False)
        elif array["library"]:
            line = f"{shown(array['name'])} is read by the library of its format ({shown(array['library'])}), by one "
            console.print(f"{line}thread of a process at a time", soft_wrap=True, markup=False)
    passes = [one for array in result.plan for one in array["passes"]]
    known = [one["seconds"] for one in passes if one["seconds"] is not None]
    time = seconds(sum(known)) if len(known) == len(passes) else "not known"
    scratch = max((array["scratch"] for array in result.plan), default=0)
    memory = max((array["memory"] for array in result.plan), default=0)
    console.print(
        f"{shown(source)} -> {shown(job['target'])}: {count(len(passes), 'pass')} over "
        f"{count(len(result.plan), 'array')}, {size(memory)} of memory for windows, {size(scratch)} of disk in "
        f"between, predicted {time}; nothing was written",
        soft_wrap=True,
        markup=False,
    )


def _shape(shape: list[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _properties(array: dict[str, Any]) -> str:
    """Return how an array is stored apart from its chunks, as ``, zstd:3, time unlimited``."""
    texts = [array["codec"]] if array["codec"] else []
    texts += [f"{', '.join(array['unlimited'])} unlimited"] if array["unlimited"] else []
    return "".join(f", {text}" for text in texts)


def _end(end: dict[str, Any]) -> str:
    """Return how often the units of a store are read or written, as ``12 chunks of 4x4, 3 times each``."""
    if end["what"] == "stretches":
        return f"{end['count']:,} stretches" if end["count"] != 1 else "1 stretch"
    each = end["times"] / end["count"] if end["count"] else 1.0
    times = "once" if each == 1 else f"{each:.3g} times"
    what = end["what"] if end["count"] != 1 else end["what"][:-1]
    return f"{end['count']:,} {what} of {_shape(end['shape'])}, {times}"
