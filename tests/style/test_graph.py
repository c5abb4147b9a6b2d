"""src and python/plait have few folders, in the order that docs/architecture.md shows."""

import re
import sys
from itertools import pairwise
from pathlib import Path

from sources import ROOT, project_files, read
from test_circles import find_imports, find_modules

sys.path.insert(0, str(ROOT / "scripts"))

from graph import NODES, format_graph

MAX_NODES = 16
PRIVATE = ("_base", "_arguments", "_calls", "_redistribution", "_file", "_views", "_copying")
"""The private packages of python/plait, the lowest first."""


def test_the_array_library_has_few_folders() -> None:
    assert len(NODES) <= MAX_NODES
    folders = {path.parts[1] for path in project_files() if path.parts[0] == "src"}
    assert folders == set(NODES)


def test_the_architecture_page_shows_the_folders_in_their_order() -> None:
    layers = read(Path("docs/architecture.md")).split("\n## Layers\n")[1]
    below = layers.split("```")[1].split("----\n")[1]
    lines = [
        [name for name in re.findall(r"(?:^ |\|  )([a-z]+) ", line) if name in NODES] for line in below.splitlines()
    ]
    lines = [line for line in lines if line]
    assert sorted(name for line in lines for name in line) == sorted(NODES)
    for upper, lower in pairwise(lines):
        assert min(map(NODES.index, upper)) > max(map(NODES.index, lower)), f"{upper} is above {lower}"


def test_the_architecture_page_shows_the_graph() -> None:
    shown_graph = re.search(
        r"`python scripts/graph.py`[^`]*```\n(.*?)```", read(Path("docs/architecture.md")), re.DOTALL
    )
    assert shown_graph is not None
    assert shown_graph.group(1) == format_graph(), (
        "replace the graph in docs/architecture.md by what scripts/graph.py prints"
    )


def test_private_packages_are_few_and_use_only_lower_ones() -> None:
    package = Path("python/plait")
    sources = [path.relative_to(package) for path in project_files() if path.is_relative_to(package)]
    private = {path.parts[0] for path in sources if path.parts[0].startswith("_") and path.suffix == ".py"}
    assert private - {"__init__.py"} == set(PRIVATE), "put private modules into one of these packages"
    known = {name: path for name, path in find_modules().items() if name.startswith("plait.") and path.suffix == ".py"}
    upward_imports = [
        f"{name} imports {used}"
        for name, path in known.items()
        if (package := name.split(".")[1]) in PRIVATE
        for used in find_imports(read(path), name, set(known), path.name == "__init__.py")
        if (other := used.split(".")[1]) in PRIVATE and PRIVATE.index(other) > PRIVATE.index(package)
    ]
    assert not upward_imports
