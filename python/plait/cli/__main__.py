"""Makes `python -m plait.cli` run the command `plait`."""

from plait.cli import main

main(prog_name="plait")
