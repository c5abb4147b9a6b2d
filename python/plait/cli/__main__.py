"""Lets `python -m plait.cli` stand for `plait`."""

from plait.cli import main

main(prog_name="plait")
