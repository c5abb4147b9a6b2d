"""`plait bench objects`: measures an object store."""

from __future__ import annotations

import signal
import sys
from typing import Any

import click

from plait.cli.lists import Bytes, Several, parse_bytes, parse_count
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option

_EXAMPLES = """
\b
Examples:
  plait bench objects s3://bucket/prefix
  plait bench objects 's3://bucket/prefix?region=eu-west-1' --size 1G --json results.json
  plait bench objects https://host/run/field.npy --connections 1,8,32 --pieces 1M,8M
"""
_MAX_CONNECTIONS = 1000
_MIN_PIECE, _MAX_PIECE = 64 << 10, 1 << 30  # bytes; the limits of PLAIT_HTTP_PIECE


def _parse_connections(text: str) -> int:
    count = parse_count(text)
    if count > _MAX_CONNECTIONS:
        raise ValueError(text)
    return count


def _parse_piece(text: str) -> int:
    count = parse_bytes(text)
    if not _MIN_PIECE <= count <= _MAX_PIECE or count % 8:
        raise ValueError(text)
    return count


def _check_url(ctx: click.Context, param: click.Parameter, value: str) -> str:
    scheme, separator, remainder = value.partition("://")
    if not separator or scheme not in ("s3", "http", "https"):
        raise click.BadParameter(
            f"'{value}' is not in a store that can be measured; give s3://BUCKET/PREFIX, or the http(s):// URL of an "
            "object"
        )
    location = remainder.partition("?")[0]
    host_or_bucket, _, key = location.partition("/")
    if not host_or_bucket or (scheme != "s3" and not key):
        missing = "bucket" if scheme == "s3" else "object"
        raise click.BadParameter(f"'{value}' names no {missing}; give s3://BUCKET/PREFIX, or the URL of an object")
    return value


@click.command("objects", epilog=_EXAMPLES)
@click.argument("url", callback=_check_url)
@click.option(
    "--connections",
    type=Several("a number of connections from 1 to 1000", _parse_connections),
    default="1,4,16,64",
    show_default=True,
    metavar="LIST",
    help="Numbers of connections.",
)
@click.option(
    "--pieces",
    type=Several("a multiple of 8 bytes from 64K to 1G", _parse_piece),
    default="256K,1M,4M,16M",
    show_default=True,
    metavar="LIST",
    help="Bytes of a request.",
)
@click.option(
    "--size", type=Bytes(), default="256M", show_default=True, help="Bytes of the object, and maximum of a sample."
)
@click.option("--samples", type=click.IntRange(min=1), default=50, show_default=True, help="Samples of the latency.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Samples of each rate.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.05),
    default=1.0,
    show_default=True,
    help="About how long a sample of a rate takes.",
)
@json_option
def objects_command(url: str, json_: str | None, size: int, **options: Any) -> None:
    """Measure latency and throughput of an object store, and print the settings that suit it.

    URL is a prefix in S3, below which objects are written, read and removed, or an object of 1 MiB or more on an HTTP
    server, which is only read. If obstore and TensorStore are installed, they read the same objects in S3.
    """
    from plait_bench.objects.driver import ObjectSettings, run_objects
    from plait_bench.objects.table import objects_table

    if size < 1 << 20:
        raise click.BadParameter("expected 1M or more", param_hint="--size")
    settings = ObjectSettings(url=url, size=size // 8 * 8, **options)
    # The objects are removed even if a signal ends the process.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP, and it must stay ignored
            signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    results = run_with_bar(lambda progress: run_objects(settings, progress), "starting")
    deliver_table(results, objects_table, json_)
