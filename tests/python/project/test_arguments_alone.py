"""Wrong arguments to functions that are not collective: each call returns or raises plait.Error within a minute."""

from __future__ import annotations

import faulthandler
import inspect
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import plait
from plait import distant, notations, trace
from plait.patterns import PATTERNS

DRAWS = 60  # calls of each function, each with other arguments
SECONDS = 60  # maximum time of a call


class HostileArgument:
    """An argument that raises an exception when it is converted to a number, to a path or to text."""

    def __index__(self) -> int:
        raise RuntimeError("no number today")

    def __fspath__(self) -> str:
        raise RuntimeError("no name today")

    def __repr__(self) -> str:
        raise RuntimeError("no words either")


LAYOUT = plait.Layout((6, 4), "(cyclic(2), *)", grid=(3,))
VALUES: list[Any] = [2**70, -(2**70), 2**63, -1, 0, 3, 1.5, float("nan"), 1j, True, None, np.float64(2)]
VALUES += [
    "4",
    "",
    "\udc80",
    "(block, *)",
    "x" * 5000,
    b"1",
    [],
    [1],
    [None],
    {},
    {"a": 1},
    (),
    (0,),
    (-1, 2),
    (2**70,),
]
VALUES += [object(), HostileArgument(), np.array([1, 2]), np.zeros((2, 2)), range(3), slice(1, 5, 2), lambda: 1, LAYOUT]
VALUES += [plait.Layout((5,), "(block)", grid=(2,))]

# Functions of the core, which have no Python signature, with the maximum number of their arguments.
CORE: dict[str, tuple[Callable[..., Any], int]] = {
    "Layout": (plait.Layout, 2),
    "IndexSet": (plait.IndexSet, 2),
    "BitPermutation": (plait.BitPermutation, 3),
    "Conversion": (plait.Conversion, 2),
    "compose": (plait.compose, 2),
    "same_up_to_ranks": (plait.same_up_to_ranks, 2),
    "bit_permutation": (LAYOUT.bit_permutation, 1),
    **{
        f"Layout.{name}": (getattr(LAYOUT, name), count)
        for name, count in {
            "coordinates": 1, "has_rank": 1, "index_set": 2, "indices": 1, "local_shape": 1, "owners": 1,
            "padded_shape": 1, "parse": 2, "replica": 1, "runs": 1, "to_global": 2, "to_local": 2,
        }.items()
    },
}  # fmt: skip
TRACE = ("open", "create", "convert", "report", "compare", "import_trace", "generate", "workload_name")


def public_functions() -> dict[str, Callable[..., Any]]:
    """Return public functions in Python: those of notations, traces, layouts, patterns, pipes and distant files."""
    calls: dict[str, Callable[..., Any]] = {"indirect": plait.indirect, "relabel": plait.relabel}
    calls |= {"pipe_names": plait.pipe_names, "pipe_status": plait.pipe_status, "world": plait.world}
    calls |= {"distant.offer": distant.offer, "distant.find": distant.find}
    calls |= {f"patterns.{name}": kind for name, kind in PATTERNS.items()}
    for module in notations.__all__:
        notation: ModuleType = getattr(notations, module)
        for name in dir(notation):
            if name.startswith(("from_", "to_")):
                calls[f"notations.{module}.{name}"] = getattr(notation, name)
    return {**calls, **{f"trace.{name}": getattr(trace, name) for name in TRACE}}


def try_call(name: str, call: Callable[[], Any]) -> None:
    """Make a call, which may reject its arguments; a call that does not return ends the tests with a traceback."""
    message = "no error"
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        call()
    except plait.Error as error:
        message = str(error)
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert message, f"{name} does not say what is wrong"
    assert "incompatible function arguments" not in message, f"{name}: {message}"


@pytest.mark.parametrize("name", list(CORE))
def test_functions_of_the_core_reject_wrong_arguments(name: str) -> None:
    draw = random.Random(name)
    function, max_count = CORE[name]
    for _ in range(DRAWS):
        arguments = [draw.choice(VALUES) for _ in range(draw.randint(1, max_count))]
        if max_count > 1 and draw.random() < 0.5:
            arguments[0] = LAYOUT
        if len(arguments) < max_count and name not in ("bit_permutation", "Layout", "IndexSet", "Layout.parse"):
            arguments += [draw.choice(VALUES) for _ in range(max_count - len(arguments))]
        try_call(name, lambda values=arguments: function(*values))


@pytest.mark.parametrize("name", list(public_functions()))
def test_functions_in_python_reject_wrong_arguments(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(name)
    function = public_functions()[name]
    parameters = inspect.signature(function).parameters.values()
    positional = [parameter for parameter in parameters if parameter.kind == parameter.POSITIONAL_OR_KEYWORD]
    required_count = sum(parameter.default is parameter.empty for parameter in positional)
    keyword_only = [
        parameter.name
        for parameter in parameters
        if parameter.kind == parameter.KEYWORD_ONLY and parameter.name != "progress"
    ]
    for _ in range(DRAWS):
        arguments = [draw.choice(VALUES) for _ in range(draw.randint(required_count, len(positional)))]
        if arguments and draw.random() < 0.5:
            arguments[0] = LAYOUT
        options = {key: draw.choice(VALUES) for key in keyword_only if draw.random() < 0.3}
        try_call(name, lambda values=arguments, options=options: function(*values, **options))


@pytest.mark.parametrize("name", list(PATTERNS))
def test_methods_of_patterns_reject_wrong_arguments(name: str) -> None:
    draw = random.Random(name)
    pattern = PATTERNS[name](24, 3, 4)
    for _ in range(DRAWS):
        rank, number = draw.choice([*VALUES, 1]), draw.choice([*VALUES, 1])
        try_call(f"{name}.at", lambda rank=rank, number=number: pattern.at(rank, number))
        try_call(f"{name}.requests", lambda rank=rank: list(pattern.requests(rank)))
    assert sum(request.count for request in pattern.requests(1)) > 0


@pytest.mark.parametrize("url", ["pipe:given?readers=0", "given.npy"])
def test_methods_of_files_reject_wrong_arguments(url: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLAIT_MEET", str(tmp_path))
    draw = random.Random(url)
    file = plait.open(url, "w", shape=(6, 4), dtype="f8")
    for _ in range(DRAWS):
        layout, region, flag, halo = (draw.choice(VALUES) for _ in range(4))
        try_call(
            "File.explain", lambda arguments=(layout, region, flag), halo=halo: file.explain(*arguments, fill_halo=halo)
        )
        try_call("File.define", lambda arguments=(layout, region, flag): file.define(*arguments))
        try_call("File.type_of", lambda name=layout: file.type_of(name))
    file.close()


def test_errors_name_the_expected_arguments() -> None:
    with pytest.raises(plait.ArgumentError) as caught:
        trace.compare({}, {})
    assert "has an argument that cannot be used; pass compare(a: str | os.PathLike[str] | Report, b:" in str(
        caught.value
    )
    assert notations.scalapack.to_grid("4x4 (block, block) onto (2, 2) order=F")  # a text where a layout is expected
