"""`plait simulate replay`: traces on a machine, once or for many variants of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from plait.cli.simulate.machine import complete_machines
from plait.cli.support import messages, run_with_bar

_EXAMPLES = """
\b
Examples:
  plait simulate run.plait --cache 32MiB --policy lru --read-ahead same-size --write behind
  plait simulate workload:venus?copies=2 --machine cray-1992 --cache 4MiB,8MiB,32MiB,128MiB --plot idle.png
  plait simulate run.plait --cache 64MiB,1GiB --policy lru,sieve --json
  plait simulate run.plait --device "disk?rate=200MB/s&seek_far=15ms" --stripes 1,2,4
  plait simulate a.plait b.plait --cpus 1 --tier "256MiB?kind=ssd"
  plait simulate run.plait --file '/scratch/*' --html run.html
"""

_OPTIONS = {
    "cache": ("SIZE", "Size of the cache, such as 32MiB; 0 for no cache."),
    "policy": ("NAME", "Replacement policy of the cache, such as lru, 2q, arc or sieve."),
    "read_ahead": (
        "HOW",
        "Read-ahead: none, one, many, same-size, stride or adaptive; many?1MiB and adaptive?1MiB set the amount.",
    ),
    "write": ("WHEN", "When writes go to the device: through, behind, delayed or full."),
    "block": ("SIZE", "Size of a block of the cache."),
    "process_limit": ("SIZE", "Most that one process may have in the cache."),
    "delay": ("TIME", "Age at which delayed writes go to the device."),
    "dirty_limit": ("SHARE", "Share of the cache that may be dirty before writers wait, such as 20%."),
    "device": (
        "DEVICE",
        "The device, such as ssd?channels=4&read_latency=80us; `plait simulate machine --keys` lists all.",
    ),
    "stripes": ("N", "Number of equal devices over which files are striped."),
    "servers": ("N", "Number of servers of a parallel file system."),
    "tier": ("SIZE", "Size of a fast device in front of the slow one, such as 256MiB?kind=ssd; 0 for none."),
    "cpus": ("N", "Number of processors."),
    "quantum": ("TIME", "Time for which a process runs while others are ready."),
    "aggregate": ("SIZE", "Size up to which consecutive requests are merged."),
    "asynchronous": ("WHICH", "Requests that programs do not wait for: none, reads, writes or all."),
    "waits": ("WHAT", "Whether to keep or drop the time that is neither computing nor I/O."),
}


def machine_options(command: Any) -> Any:
    """Add the options that change the machine and the programs, and that select the files on the device."""
    command = click.option(
        "--file",
        metavar="GLOB",
        help="Only files whose names match are on the device; calls on other files take their recorded time.",
    )(command)
    for name, (metavar, text) in reversed(_OPTIONS.items()):
        command = click.option(f"--{name.replace('_', '-')}", name, metavar=metavar, help=text)(command)
    return command


@click.command("replay", epilog=_EXAMPLES)
@click.argument("traces", nargs=-1, required=True, type=click.Path())
@click.option(
    "--machine",
    default="laptop-nvme",
    show_default=True,
    shell_complete=complete_machines,
    help="A machine file, or the name of one that comes with Plait.",
)
@machine_options
@click.option("--measured", is_flag=True, help="Use the recorded time of each request.")
@click.option("--json", "json_", is_flag=True, help="Print the document as JSON, or one row for each variant.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a chart: SVG if FILE ends with .svg, else PNG.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Also write a self-contained page; - writes it to standard output instead of the text.",
)
def replay_command(traces: tuple[str, ...], machine: str, measured: bool, file: str | None, **options: Any) -> None:
    """Replay TRACES, which run at once, on a machine, and print what that would take.

    An option with commas between its values makes one replay for each value, of several options for each combination.
    Amounts have units: 32MiB, 15ms, 9.6MB/s, 25%.
    """
    from plait import simulate

    json_, plot, html = (options.pop(name) for name in ("json_", "plot", "html"))
    if json_ and html == "-":
        raise click.UsageError("the document and the page cannot both go to standard output")
    settings: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    swept = {name: value.split(",") for name, value in settings.items() if "," in value}
    if swept and measured:
        raise click.UsageError("measured times do not depend on the machine; give one value for each option")

    def work(progress: Any) -> Any:
        recording = simulate.record(list(traces), progress, file=file)
        if swept:
            return simulate.sweep(recording, machine, progress=progress, **{**settings, **swept})
        return simulate.run(recording, machine, measured=measured, progress=progress, **settings)

    result = run_with_bar(work, "reading the traces")
    click.echo(result.to_json() if json_ else result.page() if html == "-" else str(result), nl=html != "-")
    if not json_ and html != "-":
        _print_durations(result.results if swept else [result])
    if html not in (None, "-"):
        result.html(html)
        messages().print(f"page written to {html}", soft_wrap=True)
    if plot is not None:
        result.plot(plot)
        messages().print(f"picture written to {plot}", soft_wrap=True)


def _print_durations(results: list[Any]) -> None:
    """Print how long reading and replaying took, and the share of reading."""
    from plait._base.amounts import seconds, share

    reading, replaying = results[0].reading, sum(result.replaying for result in results)
    requests = sum(result["recorded"]["requests"] for result in results)
    messages().print(
        f"read in {seconds(reading)} ({share(reading / (reading + replaying))}), replayed in {seconds(replaying)}: "
        f"{requests / replaying / 1e6:.2g} million requests a second",
        soft_wrap=True,
    )
