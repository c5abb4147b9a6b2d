"""The lists of commands of `plait trace` and `plait model`."""

import click
import pytest
from launching import run

from plait.cli import main


@pytest.mark.parametrize("path", [("trace",), ("model",)], ids=" ".join)
def test_help_lists_what_there_is(path):
    group = main
    for name in path:
        group = group.get_command(click.Context(group), name)
    text = run(*path, "--help").output
    names = group.list_commands(click.Context(group))
    assert names == sorted(names)
    for name in names:
        assert f"  {name}" in text
        assert group.command_help(name) in text


def test_unknown_commands_are_told_the_known_ones():
    result = run("trace", "nope")
    assert result.exit_code == 2
    assert "'nope'; use one of: compare, convert, generate, import, record, report." in result.output
