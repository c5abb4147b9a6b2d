"""`plait copy`: copies arrays from one store to another, by ranks or in parts if requested."""

from __future__ import annotations

import errno
import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

import plait
from plait._arguments.presence import is_given
from plait._base.amounts import count, shown, size
from plait.cli.copying.parts import copy_in_parts, has_parts, parts_options
from plait.cli.copying.storage_options import storage_options, take_storage
from plait.cli.lists import Bytes, Dimension, Shape
from plait.cli.names import StoreName
from plait.cli.support import UserError

if TYPE_CHECKING:
    from plait.cli.copying.running import CopySummary

_EXAMPLES = """
\b
Examples:
  plait copy field.npy 'distant:field?folder=/var/tmp' --ranks 4
  plait copy 'distant:field?folder=/var/tmp' field.npy --ranks 4
  plait copy field.npy 'stripe:field.bin?disks=/mnt/a,/mnt/b'
  plait copy field.bin field.npy --shape 6000x5000 --dtype f8
  plait copy c.npy f.npy --target-order F
  plait copy field.npy field.zarr --chunks 64,64,64 --codec zstd:3
  plait copy field.zarr times.zarr --chunks time=-1,lat=16,lon=16 --dry-run
  plait copy ocean.nc ocean.zarr --chunks auto:series --chunks 'temp:time=48,lat=4' --codec zstd --codec '*_flag:none'
  plait copy fixed.nc growing.nc --unlimited time --codec zlib:1
  plait copy field.zarr part.npy --region time=0:100 --axes lat,lon,time --target-dtype f4 --cast same_kind
  plait copy field.npy field.zarr --chunks 64,64,64 --verify --resume
  plait copy pipe:field 'field-{step:04}.npy'
  plait copy pipe:field snapshot.npy --steps 1 --variable pressure
  plait copy pipe:field - | python plot.py
  python make.py | plait copy - pipe:field
  plait copy field-*.npy pipe:field
  plait copy 'run-*.nc' all.zarr --concat time
  plait copy 'run-*.nc::/t2m' all.zarr --concat 0
  plait copy in.zarr out.zarr --chunks time=-1,lat=16,lon=16 --parts 100 --begin
  plait copy in.zarr out.zarr --part 7
  plait copy in.zarr out.zarr --finish
  plait copy day.nc all.zarr --append time
  mpiexec -n 64 plait copy distant:field field.npy --memory 8G
"""


@click.command("copy", epilog=_EXAMPLES)
@click.argument("sources", metavar="SOURCE...", type=StoreName(), nargs=-1)
@click.argument("target", type=StoreName())
@click.option("--ranks", type=click.IntRange(min=1), help="Start this many MPI processes, which copy together.")
@click.option(
    "--shape", type=Shape(), help="Shape of the array in SOURCE, if SOURCE does not state it, such as 6000x5000."
)
@click.option("--dtype", metavar="TYPE", help="Type of the elements, as NumPy spells it, such as f8 or >i4.")
@click.option("--order", type=click.Choice(["C", "F"]), help="Order of the elements.  [default: C]")
@click.option("--offset", type=click.IntRange(min=0), help="Where the array begins in SOURCE, in bytes.")
@click.option("--layout", metavar="TEXT", help="How the ranks hold each window, such as '(block, cyclic) onto (2, 2)'.")
@click.option(
    "--memory", type=Bytes(), default="256M", show_default=True, help="The most memory that all ranks together use."
)
@click.option(
    "--variable",
    multiple=True,
    metavar="NAME",
    help="Copy this array of a file, or of the steps of a pipe, that has several; may be repeated.  [default: all]",
)
@click.option("--steps", type=click.IntRange(min=1), help="Copy this many steps.  [default: all]")
@click.option(
    "--target-order", type=click.Choice(["C", "F"]), help="Order of the elements in TARGET.  [default: that in SOURCE]"
)
@storage_options
@click.option(
    "--format",
    "format_",
    metavar="FORMAT",
    help="Format of TARGET: npy, npz, hdf5, netcdf, safetensors, zarr or raw.  [default: by the suffix of TARGET]",
)
@click.option(
    "--region",
    metavar="RANGES",
    help="Copy this part of each array: time=0:100,lat=10:20 by the names of dimensions, or 0:100,: with one range for "
    "each.  [default: all]",
)
@click.option(
    "--axes",
    metavar="NAMES",
    help="Put the axes into this order: lat,lon,time, or 1,2,0 as numpy.transpose takes them.  [default: as in SOURCE]",
)
@click.option(
    "--target-dtype", metavar="TYPE", help="Type of the elements in TARGET, such as f4 or >i2.  [default: as in SOURCE]"
)
@click.option(
    "--cast",
    type=click.Choice(["safe", "same_kind", "unsafe"]),
    help="Which conversions to that type are permitted, as for numpy.can_cast.  Without "
    "--target-dtype, --dtype then is the type in TARGET.  [default: safe]",
)
@click.option("--dry-run", is_flag=True, help="Print what would be read and written, and how often; write nothing.")
@click.option("--verify", is_flag=True, help="Read TARGET back and compare it with SOURCE before it gets its name.")
@click.option(
    "--no-sync",
    "durable",
    flag_value=False,
    default=None,
    help="Do not wait until TARGET is on the disk: a crash of the host may lose it.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Keep what is done if the copy is interrupted, and continue an interrupted one; also uploads of objects.",
)
@click.option(
    "--concat",
    type=Dimension(),
    metavar="AXIS",
    help="Join all SOURCEs, or the files that a pattern such as 'run-*.nc' matches, along this dimension: a name, or a "
    "number.  Arrays without it must be equal in all files.  'run-*.nc::/t2m' joins one array.",
)
@click.option(
    "--first",
    is_flag=True,
    help="Take arrays without the dimension of --concat from the first file; do not compare them.",
)
@click.option(
    "--sort",
    is_flag=True,
    help="Join files in the order of the coordinate's values.  [default: in that of their names]",
)
@click.option(
    "--append",
    type=Dimension(),
    metavar="AXIS",
    help="Append the arrays of SOURCE to those of an existing TARGET along this dimension: a name, or a number if "
    "there is one array.",
)
@click.option(
    "--unpack",
    is_flag=True,
    help="Decode packed elements to floating point: apply scale_factor and add_offset, and make _FillValue NaN.",
)
@click.option(
    "--skip-unsupported",
    is_flag=True,
    help="Leave out arrays that cannot be copied, and list them.  [default: an error that lists them]",
)
@parts_options
@click.option("--raw", is_flag=True, help="Standard input or output has elements without .npy headers.")
@click.option("--json", "json_", is_flag=True, help="Print the result as JSON.")
def copy_command(
    sources: tuple[str, ...], target: str, ranks: int | None, json_: bool, format_: str | None, **options: Any
) -> None:
    """Copy the array in SOURCE to TARGET, and convert, rechunk or reorder it on the way.

    SOURCE and TARGET are names as for plait.open, or - for standard input or output.  The suffix of TARGET determines
    its format.

    The array is copied in windows that fit into --memory.  It keeps its shape, its type with the byte order, and the
    order of its elements, unless an option changes them.  TARGET appears whole or not at all, and replaces an existing
    file of that name.  The ranks that mpiexec or --ranks has started copy together.

    From a pipe every step is copied: into one file for each step if TARGET has {step} in its name, such as
    'field-{step:04}.npy', and {variable} if steps have several arrays. Several sources become the steps of a pipe. On
    standard input and output arrays are .npy files, one after the other.
    """
    if not sources:
        raise UserError(
            f"found one name, {target}, but a source and a target are needed, as in: plait copy field.npy copy.npy"
        )
    from plait._copying import NoReaderError
    from plait._file.location import with_format
    from plait.cli.copying.running import StoppedError, find_world

    if format_ is not None and target != "-":
        target = with_format(target, format_)
    elif format_ is not None:
        raise UserError(f"--format {format_} was given, but the standard output has .npy files, or with --raw elements")
    source: str | list[str] = sources[0] if len(sources) == 1 else list(sources)
    storage = take_storage(options)
    requested = {name: value for name, value in options.items() if value != () and is_given(name, value)}
    job = {"source": source, "target": target, **requested, **storage}
    if has_parts(options):
        copy_in_parts(click.get_current_context(), {**job, "ranks": ranks}, json_)
        return
    comm = find_world()
    if "-" in (*sources, target):
        _check_streams(sources, target, ranks if comm is None else comm.size)
    if comm is not None and ranks not in (None, comm.size):
        raise UserError(f"mpiexec has started {comm.size} ranks, but --ranks says {ranks}; leave it out")
    is_first_rank = comm is None or comm.rank == 0
    try:
        result = _run_copy(job, comm, None if comm is not None or ranks == 1 else ranks, is_first_rank)
    except NoReaderError as error:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from error
    except (plait.Error, OSError, StoppedError) as error:
        if not is_first_rank:
            raise SystemExit(UserError.exit_code) from error
        if isinstance(error, StoppedError):
            raise click.ClickException(str(error)) from error
        raise
    if is_first_rank and result.plan and not json_:
        from plait.cli.copying.plan import print_plan

        print_plan(job, result)
    elif is_first_rank and (json_ or target != "-"):
        line = (
            json.dumps({"source": source, "target": target, **asdict(result)}) if json_ else _format_result(job, result)
        )
        click.echo(line, err=target == "-")


def _check_streams(sources: tuple[str, ...], target: str, ranks: int | None) -> None:
    """Check that the standard input or output can be the source or target of this copy."""
    if ranks not in (None, 1):
        raise UserError(
            "'-' is the standard input or output, which one process reads or writes from its first byte to the last; "
            "leave out --ranks, or name a file"
        )
    if target == "-" and "-" in sources:
        raise UserError(
            "'-' is given as the source and as the target; give a file or a pipe for one of them, or ./- for a file "
            "of that name"
        )
    stream, name = (sys.stdout, "output") if target == "-" else (sys.stdin, "input")
    if stream is not None and stream.isatty():
        raise UserError(
            f"the standard {name} is a terminal, and arrays are not text; connect it to a program or a file, "
            "as in: plait copy field.npy - | python plot.py"
        )


def _run_copy(job: dict[str, Any], comm: Any, ranks: int | None, is_first_rank: bool) -> CopySummary:
    from plait.cli.copying.progress import progress_bar
    from plait.cli.copying.running import copy_by_ranks, copy_here, has_steps

    with progress_bar(is_total_known=not has_steps(job), enabled=is_first_rank) as progress:
        return copy_here(job, comm, progress) if ranks is None else copy_by_ranks(job, ranks, progress)


def _format_result(job: dict[str, Any], result: CopySummary) -> str:
    from plait.cli.copying.running import has_steps

    ranks_text = "" if result.ranks == 1 else f" by {count(result.ranks, 'rank')}"
    source = job["source"]
    name = shown(source) if isinstance(source, str) else f"{shown(source[0])} and {len(source) - 1} more"
    steps = f"{count(result.steps, 'step')}, " if has_steps(job) else ""
    resumed_text = f", {size(result.resumed)} of it were there" if result.resumed else ""
    verified_text = ", verified" if job.get("verify") else ""
    skipped_text = f", {count(len(result.skipped), 'array')} left out" if result.skipped else ""
    return (
        f"{name} -> {shown(job['target'])}: {steps}{size(result.bytes)} in {result.seconds:.3g} s"
        f"{ranks_text}, {size(result.rate)}/s{resumed_text}{verified_text}{skipped_text}"
    )
