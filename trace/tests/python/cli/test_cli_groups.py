"""The lists of commands of `plait trace` and `plait model`."""

import click
import pytest
from launching import run

from plait.cli import main


@pytest.mark.parametrize("name", ["trace", "model"])
def test_help_lists_all_commands(name):
    group = main.get_command(click.Context(main), name)
    text = run(name, "--help").output
    commands = group.list_commands(click.Context(group))
    assert commands == sorted(commands)
    for command in commands:
        assert f"  {command}" in text
        assert group.command_help(command) in text


def test_errors_for_unknown_commands_list_the_known_ones():
    result = run("trace", "nope")
    assert result.exit_code == 2
    assert "'nope'; use one of: compare, convert, generate, import, record, report." in result.output
