"""The time of imports: importing the package and requesting help on the command line load only what they need."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from launching import launch, needs_mpi

import plait

#: Modules that take long to import.
HEAVY = {"numpy", "rich", "importlib.metadata", "mpi4py", "multiprocessing"}
LAZY = ["plait", "plait.launch", "plait.notations", "plait.patterns", "plait.trace"]
SUBMODULES = ["config", "distant", "draw", "launch", "model", "notations", "patterns", "shared", "trace"]


def run_and_parse(program, *arguments):
    """Return the output of a program, read as JSON."""
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def imports_for_type_checkers(module):
    """Return the names that a package imports for type checkers only, each with its module."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for node in (node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)):
        origin = "." * node.level + (node.module or "")
        for name in node.names:
            yield origin, name.name


def test_importing_the_package_loads_little():
    loaded = set(run_and_parse("import json, sys, plait; print(json.dumps(list(sys.modules)))"))
    assert not loaded & HEAVY
    assert {name for name in loaded if name.split(".")[0] == "plait"} <= {
        "plait",
        "plait._base",
        "plait._base.errors",
        "plait._base.forks",
        "plait._base.later",
        "plait._version",
    }


def test_arrays_need_neither_traces_nor_the_command_line():
    loaded = set(run_and_parse("import json, sys, plait; plait.open; print(json.dumps(list(sys.modules)))"))
    assert "numpy" in loaded
    assert not loaded & {"rich", "click", "importlib.metadata", "mpi4py"}
    others = ("plait.cli", "plait.draw", "plait.launch", "plait.model", "plait.trace", "plait._trace", "plait._mpi")
    assert not [name for name in loaded if name.startswith(others)]


def test_a_missing_product_is_not_an_attribute(monkeypatch):
    monkeypatch.delattr(plait, "trace", raising=False)
    monkeypatch.setitem(sys.modules, "plait.trace", None)
    assert not hasattr(plait, "trace")
    with pytest.raises(AttributeError, match="module 'plait' has no attribute 'trace'"):
        getattr(plait, "trace")  # noqa: B009 - the test is of the name


@pytest.mark.parametrize("package", LAZY)
def test_names_agree_with_those_for_type_checkers(package):
    module = importlib.import_module(package)
    listed = dict(reversed(pair) for pair in imports_for_type_checkers(module))
    assert listed
    for name, origin in listed.items():
        module_name = f"{package}{origin}" if origin.startswith(".") else origin
        if module_name.rstrip(".") == package:
            assert getattr(module, name) is importlib.import_module(f"{package}.{name}")
        else:
            assert getattr(module, name) is getattr(importlib.import_module(module_name), name)
    assert set(listed) | set(module.__all__) <= set(dir(module))
    assert all(hasattr(module, name) for name in module.__all__)
    with pytest.raises(AttributeError, match=rf"^module '{package}' has no attribute 'no_such_name'$"):
        module.no_such_name  # noqa: B018 - the access is the test


def test_all_names_are_listed_before_first_use():
    listed = run_and_parse("import json, plait; print(json.dumps(dir(plait)))")
    assert {*plait.__all__, *SUBMODULES, "__version__"} <= set(listed)
    assert not [name for name in listed if name.startswith("_") and not name.startswith("__")]


def test_submodules_are_attributes():
    program = """
import json, sys, plait
print(json.dumps({name: [getattr(plait, name).__name__, len(dir(getattr(plait, name)))] for name in sys.argv[1:]}))
"""
    submodules = run_and_parse(program, *SUBMODULES)
    assert {name: module_name for name, (module_name, _) in submodules.items()} == {
        name: f"plait.{name}" for name in SUBMODULES
    }
    assert all(members > 10 for _, members in submodules.values())


def test_a_star_import_has_the_public_names():
    program = "from plait import *\nimport json; print(json.dumps([n for n in globals() if n[0] != '_']))"
    assert set(run_and_parse(program)) - {"json"} == set(plait.__all__)


def test_several_threads_can_use_a_name_first():
    program = """
import json, threading, plait
names = ["Layout", "open", "copy", "redistribute", "relabel", "Stream", "trace", "patterns"] * 2
ready, values = threading.Barrier(len(names)), {}
def get_name(number, name):
    ready.wait()
    values[number] = getattr(plait, name)
threads = [threading.Thread(target=get_name, args=pair) for pair in enumerate(names)]
for each in threads: each.start()
for each in threads: each.join()
print(json.dumps([len(values) == len(names), all(values[i] is getattr(plait, name) for i, name in enumerate(names))]))
"""
    assert run_and_parse(program) == [True, True]


@needs_mpi
def test_a_fork_before_first_use_is_detected():
    program = """
import os, plait
from mpi4py import MPI
child = os.fork()
if child == 0:
    try:
        plait.open("a.npy", comm=MPI.COMM_WORLD)
    except plait.ArgumentError as error:
        print(f"MPI belongs to process {os.getppid()}" in str(error), flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    assert launch(1, sys.executable, "-c", program).stdout == "True\n"


def test_names_that_the_program_assigns_are_preserved():
    program = """
import json, plait
plait.open = 1
plait.Layout
print(json.dumps(plait.open))
"""
    assert run_and_parse(program) == 1


def test_the_version_is_that_of_the_installed_package():
    metadata = pytest.importorskip("importlib.metadata")
    assert plait.__version__ == metadata.version("plait")


COMMANDS = """
import json, sys
import click
from click.testing import CliRunner
from plait.cli import main

def paths(command, path):
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1] if path else "plait")
        for name in command.list_commands(context):
            yield from paths(command.get_command(context, name), [*path, name])

"""


def test_help_of_every_command_loads_no_arrays():
    program = (
        COMMANDS
        + """
heavy = set(json.loads(sys.argv[1]))
loaded = {}
for path in [["--version"], *([*path, "--help"] for path in paths(main, []))]:
    before = set(sys.modules)
    result = CliRunner().invoke(main, path)
    assert result.exit_code == 0, (path, result.output)
    loaded[" ".join(path)] = sorted(heavy & set(sys.modules) - before)
assert not heavy & set(sys.modules), [name for name in heavy if name in sys.modules]
print(json.dumps(loaded))
"""
    )
    loaded = run_and_parse(program, json.dumps(sorted(HEAVY)))
    assert {"--help", "--version", "copy --help", "model predict --help", "trace report --help"} <= set(loaded)
    assert not {name: modules for name, modules in loaded.items() if modules}


def test_completion_loads_no_arrays():
    program = (
        COMMANDS
        + """
from click.shell_completion import ShellComplete
def complete(words, incomplete):
    shell = ShellComplete(main, {}, "plait", "_PLAIT_COMPLETE")
    return [item.value for item in shell.get_completions(words, incomplete)]
completions = [complete([], ""), complete(["tr"], "re"), complete(["trace"], "re"), complete(["copy"], "--me")]
print(json.dumps([completions, list(sys.modules)]))
"""
    )
    completions, modules = run_and_parse(program)
    assert {"bench", "copy", "trace"} <= set(completions[0])
    assert completions[1:] == [[], ["record", "report"], ["--memory"]]
    assert not set(modules) & HEAVY


def test_one_list_of_commands_imports_none_of_them():
    loaded = set(
        run_and_parse(
            COMMANDS
            + """
assert CliRunner().invoke(main, ["--help"]).exit_code == 0
assert CliRunner().invoke(main, ["trace", "--help"]).exit_code == 0
print(json.dumps(list(sys.modules)))
"""
        )
    )
    assert {name for name in loaded if name.startswith("plait.cli.")} == {
        "plait.cli.bench",
        "plait.cli.support",
        "plait.cli.trace",
    }
    assert "plait_bench" not in loaded
