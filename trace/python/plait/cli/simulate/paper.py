"""`plait simulate paper`: section 6 of the paper of 1992, redone."""

from __future__ import annotations

from pathlib import Path

import click

from plait.cli.support import messages, run_with_bar

_EXAMPLES = """
\b
Examples:
  plait simulate paper
  plait simulate paper --figures pictures
"""


@click.command("paper", epilog=_EXAMPLES)
@click.option(
    "--figures", type=click.Path(file_okay=False, path_type=Path), help="Also draw figures 6, 7 and 8 into this folder."
)
@click.option("--json", "json_", is_flag=True, help="Print JSON: the fitted number and the claims.")
def paper_command(figures: Path | None, json_: bool) -> None:
    """Redo the simulations of E. L. Miller, "Input/Output Behavior of Supercomputing Applications" (1992).

    One number that the paper leaves open is fitted to one of its results.  The others are predicted, and stand beside
    what the paper says; what does not come out is shown with the reason.
    """
    from plait.simulate.paper1992 import redo

    paper = run_with_bar(redo, "fitting")
    click.echo(paper.to_json() if json_ else str(paper))
    if figures is not None:
        for name in paper.draw(figures):
            messages().print(f"picture written to {name}", soft_wrap=True)
