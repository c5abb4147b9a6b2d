"""Prints which folders of src include which others, from the highest layer to the lowest.

Each line has a folder and the folders that its files include. tests/style/test_layers.py defines the order of the
layers, and the layer of each public header. docs/architecture.md shows the result.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "style"))

from test_layers import LAYERS, SEPARATE_LAYERS, SOURCES, find_included_layer, list_includes

NODES = tuple(layer for layer in LAYERS if layer not in SEPARATE_LAYERS)
"""The layers of the array library, the lowest first."""


def include_graph() -> dict[str, set[str]]:
    """Return, for each layer of the array library, the other layers that its files include."""
    graph: dict[str, set[str]] = {layer: set() for layer in NODES}
    for path in SOURCES:
        layer = path.parts[1]
        if layer in graph:
            used = {find_included_layer(name, quoted) for name, quoted in list_includes(path)}
            graph[layer] |= {name for name in used if name} - {layer}
    return graph


def format_graph() -> str:
    """Return the graph as text, with one line per layer."""
    graph = include_graph()
    lines = [[layer, *(name for name in reversed(NODES) if name in graph[layer])] for layer in reversed(NODES)]
    return "".join(f" {first:<11} {' '.join(rest) or '-'}\n" for first, *rest in lines)


if __name__ == "__main__":
    sys.stdout.write(format_graph())
