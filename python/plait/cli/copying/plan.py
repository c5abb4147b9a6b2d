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
        for number, pass_plan in enumerate(array["passes"]):
            first = number == 0
            name = f"{shown(array['name'])} {_format_shape(array['shape'])} {array['dtype']}" if first else ""
            time = "not known" if pass_plan["seconds"] is None else seconds(pass_plan["seconds"])
            rows.append(
                (
                    name,
                    f"{pass_plan['source']} to {pass_plan['target']}",
                    f"{pass_plan['windows']:,}",
                    _format_shape(pass_plan["window"]),
                    _format_end(pass_plan["read"]),
                    size(pass_plan["read"]["bytes"]),
                    _format_end(pass_plan["write"])
                    + (_format_properties(array) if pass_plan["target"] == "target" else ""),
                    size(pass_plan["write"]["bytes"]),
                    time,
                )
            )
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
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
    passes = [pass_plan for array in result.plan for pass_plan in array["passes"]]
    predicted = [pass_plan["seconds"] for pass_plan in passes if pass_plan["seconds"] is not None]
    time = seconds(sum(predicted)) if len(predicted) == len(passes) else "not known"
    scratch = max((array["scratch"] for array in result.plan), default=0)
    memory = max((array["memory"] for array in result.plan), default=0)
    console.print(
        f"{shown(source)} -> {shown(job['target'])}: {count(len(passes), 'pass')} over "
        f"{count(len(result.plan), 'array')}, {size(memory)} of memory for windows, {size(scratch)} of disk in "
        f"between, predicted {time}; nothing was written",
        soft_wrap=True,
        markup=False,
    )


def _format_shape(shape: list[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _format_properties(array: dict[str, Any]) -> str:
    """Return the compression and the unlimited dimensions of an array, such as ``, zstd:3, time unlimited``."""
    texts = [array["codec"]] if array["codec"] else []
    texts += [f"{', '.join(array['unlimited'])} unlimited"] if array["unlimited"] else []
    return "".join(f", {text}" for text in texts)


def _format_end(end: dict[str, Any]) -> str:
    """Return the units of a store, and how often they are read or written: ``12 chunks of 4x4, 3 times each``."""
    if end["what"] == "stretches":
        return f"{end['count']:,} stretches" if end["count"] != 1 else "1 stretch"
    each = end["times"] / end["count"] if end["count"] else 1.0
    times = "once" if each == 1 else f"{each:.3g} times"
    what = end["what"] if end["count"] != 1 else end["what"][:-1]
    return f"{end['count']:,} {what} of {_format_shape(end['shape'])}, {times}"
