"""The names of events in a trace come from one list, which Python types repeat for the type checker."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from plait import _trace, trace

STUB = Path(__file__).parents[3] / "python/plait/_trace.pyi"


def stub_members(name: str) -> dict[str, int]:
    """Return the members of an enumeration in the type stub."""
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    definition = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in definition.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


@pytest.mark.parametrize("name", ["Kind", "Interface", "Flag"])
def test_the_stub_repeats_the_list(name: str) -> None:
    members = getattr(trace, name).__members__
    assert {member: int(value) for member, value in members.items()} == stub_members(name)
    assert getattr(trace, name).__doc__


def test_texts_equal_the_names() -> None:
    assert [kind.name.lower() for kind in trace.Kind] == _trace.KIND_NAMES
    assert [interface.name.lower().replace("_", "-") for interface in trace.Interface] == _trace.INTERFACE_NAMES


def test_values_can_be_pickled() -> None:
    values = [trace.Kind.SEEK, trace.Interface.MPI_IO, trace.Flag.LOGICAL | trace.Flag.DIRECT]
    assert pickle.loads(pickle.dumps(values)) == values
    assert trace.Flag.DATA_TYPE is trace.Flag.VIRTUAL_MEMORY


def test_programs_without_traces_do_not_load_them() -> None:
    """Neither the module nor the library is loaded by programs and commands that do not use traces."""
    program = (
        "import sys, plait, plait.cli, plait.cli.copy, plait.cli.layout\n"
        "plait.Layout((4,), '(block) onto (2)')\n"
        "loaded = open('/proc/self/maps').read()\n"
        "assert 'libplait.so' in loaded\n"
        "print('plait._trace' in sys.modules, 'plait.trace' in sys.modules, 'libplait_trace' in loaded)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False False False\n"
