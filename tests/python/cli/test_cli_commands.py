"""The lists of commands, which Plait reads without importing the commands, have every command and no others."""

import importlib
import pkgutil

import click
import pytest
from launching import run

import plait.cli
from plait.cli import main, support
from plait.cli.bench import find_bench
from plait.cli.support import Commands


def walk_groups(package, group, path=()):
    """Yield all groups of commands that are defined in a package."""
    yield group, path
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, Commands) and command.callback.__module__.startswith(package):
            yield from walk_groups(package, command, (*path, name))


def find_commands(package):
    """Yield all commands that modules of a package define."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name.endswith(("__main__", "_ranks")):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, click.Command) and value.callback.__module__ == module.name:
                yield value


def check_commands(package, main, unlisted=()):
    """Check that the groups of a package list all its commands except `unlisted`."""
    listed_ids = {id(main)}
    for group, path in walk_groups(package.__name__, main):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command.name == name, f"{path} lists {name}, and finds {command.name}"
            assert 10 < len(group.command_help(name)) <= 60, f"the help of {name} in {path} does not fit its line"
            listed_ids.add(id(command))
    missing = [command.name for command in find_commands(package) if id(command) not in listed_ids]
    assert missing == list(unlisted)


def test_every_command_is_listed():
    # bench is a placeholder if the benchmarks are not installed
    check_commands(plait.cli, main, unlisted=["bench"] if find_bench() else [])


def test_every_benchmark_is_listed():
    commands = pytest.importorskip("plait_bench.commands")
    check_commands(commands, commands.bench_command)


def test_help_lists_all_commands():
    text = run("--help").output
    names = main.list_commands(click.Context(main))
    assert names == sorted(names)
    for name in names:
        assert f"  {name}" in text
        assert main.command_help(name) in text


def test_errors_for_unknown_commands_list_the_known_ones():
    result = run("nope")
    assert result.exit_code == 2
    assert "'nope'; use one of: bench, clean, completion, copy, demo, info, layout, " in result.output


def test_commands_of_missing_products_are_not_listed(monkeypatch):
    monkeypatch.setattr(support, "find_spec", lambda name: None)
    assert support.product_commands() == {}
    monkeypatch.setattr(support, "find_spec", lambda name: name == "plait.cli.trace" or None)
    assert list(support.product_commands()) == ["trace"]
