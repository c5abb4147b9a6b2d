"""`plait bench simulate`: measures the speed of the simulation of caches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option

if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # takes no type before click 8.4

_EXAMPLES = """
\b
Examples:
  plait bench simulate
  plait bench simulate --policies lru,sieve --json -
  plait bench simulate --requests 20M --objects 1M --cache 100k
"""


class _PositiveNumber(_Type):
    """A positive number with an optional decimal unit, such as `20M` for 20 million."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"([0-9]+)([kKMG]?)", value)
        if match is None or int(match[1]) == 0:
            self.fail(f"'{value}' is no number of 1 or more; write 20000000, 20M or 100k", param, ctx)
        return int(match[1]) * {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}[match[2]]


@click.command("simulate", epilog=_EXAMPLES)
@click.option(
    "--requests", type=_PositiveNumber(), default="2M", show_default=True, help="Requests of each measurement."
)
@click.option(
    "--objects", type=_PositiveNumber(), default="100k", show_default=True, help="Number of different blocks."
)
@click.option(
    "--cache",
    type=_PositiveNumber(),
    default="10k",
    show_default=True,
    help="Number of blocks that fit into the cache.",
)
@click.option(
    "--skew", type=click.FloatRange(min=0), default=1.0, show_default=True, help="Exponent of Zipf's law; 0: uniform."
)
@click.option("--policies", metavar="LIST", help="Replacement policies, between commas.  [default: all]")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Samples of each measurement.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the requests.")
@json_option
def simulate_command(policies: str | None, json_: str | None, **options: Any) -> None:
    """Simulate caches with each replacement policy, for requests to blocks whose popularity follows Zipf's law.

    The benchmark prints the simulated requests per second of processor time and the misses, the same for miss-ratio
    curves of LRU, and the share of the time that reading takes if the requests come from a binary trace.
    """
    from plait_bench.simulate.measure import SimulateSettings, run_simulate
    from plait_bench.simulate.table import simulate_table

    settings = SimulateSettings(policies=tuple(filter(None, (policies or "").split(","))), **options)
    results = run_with_bar(lambda progress: run_simulate(settings, progress), "drawing requests")
    deliver_table(results, simulate_table, json_)
