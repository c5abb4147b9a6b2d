"""The result of a simulated access: a value that prints, plots and converts to JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait._base.amounts import count, seconds, share, size
from plait.simulate.plans._phases import PHASES

_MAX_LISTED = 8  # links, and servers, in the text


@dataclass(frozen=True)
class PlanRun:
    """One access.  ``document`` has all results, as docs/reference/simulation-plans.md lists them; times in seconds."""

    document: dict[str, Any]
    simulating: float = 0.0
    """Seconds that the simulation took on this machine."""

    def __getitem__(self, name: str) -> Any:
        """Return the entry of the document with this name."""
        return self.document[name]

    @property
    def elapsed(self) -> float:
        """Seconds until the last rank returns."""
        return float(self.document["elapsed"])

    @property
    def requests(self) -> int:
        """Requests of the file system, of all ranks."""
        return int(sum(self.document["ranks"]["requests"]))

    @property
    def bytes(self) -> int:
        """Bytes of the requests."""
        return int(sum(self.document["ranks"]["bytes"]))

    @property
    def messages(self) -> int:
        """Messages between nodes."""
        return int(sum(self.document["ranks"]["sent"]))

    @property
    def message_bytes(self) -> int:
        """Bytes of the messages."""
        return int(sum(self.document["ranks"]["sent_bytes"]))

    @property
    def rate(self) -> float:
        """Bytes of the file per second, until the last rank returns."""
        return self.bytes / self.elapsed if self.elapsed > 0 else 0.0

    @property
    def phases(self) -> dict[str, dict[str, float]]:
        """For each phase, in seconds: the ``mean`` over ranks, and the ``most`` of any rank with its ``rank``."""
        phases = {}
        for name in PHASES:
            times = self.document["ranks"][name]
            longest = max(times)
            phases[name] = {"mean": sum(times) / len(times), "most": longest, "rank": times.index(longest)}
        return phases

    @property
    def node_bytes(self) -> list[int]:
        """Bytes that each node sends and receives, including those of files."""
        byte_counts = [0] * int(self.document["nodes"])
        for sender, receiver, _, length in self.document["links"]:
            for node in (sender, receiver):
                if node < len(byte_counts):
                    byte_counts[node] += length
        return byte_counts

    @property
    def hot_spots(self) -> dict[str, dict[str, Any]]:
        """The rank that requests the most bytes of the file, the node with the most bytes, the busiest server."""
        ranks, nodes, devices = self.document["ranks"], self.node_bytes, self.document["devices"]
        reader = max(range(len(ranks["bytes"])), key=lambda rank: (ranks["bytes"][rank], ranks["file"][rank]))
        node = max(range(len(nodes)), key=nodes.__getitem__)
        server = max(devices, key=lambda device: (device["busy"], device["read_bytes"] + device["write_bytes"]))
        return {
            "reader": {name: ranks[name][reader] for name in ("bytes", "requests", "file")} | {"rank": reader},
            "node": {"node": node, "bytes": nodes[node], "mean": sum(nodes) / len(nodes)},
            "server": {
                "name": server["name"],
                "busy": server["busy"],
                "bytes": server["read_bytes"] + server["write_bytes"],
                "mean": sum(device["busy"] for device in devices) / len(devices),
            },
        }

    @property
    def explained(self) -> str:
        """The description of the plan, as in :meth:`plait.File.explain`."""
        return str(self.document["explained"])

    @property
    def notes(self) -> list[str]:
        """Remarks about the limits of the figures."""
        return list(self.document["notes"])

    def to_json(self) -> str:
        """Return the document as JSON, with ``phases`` and ``hot_spots``."""
        return json.dumps({**self.document, "phases": self.phases, "hot_spots": self.hot_spots})

    def plot(self, path: str | Path) -> None:
        """Write a picture of ranks over time, each rank, and the load of servers.  SVG if the name ends in .svg.

        errors  plait.Error if matplotlib is not installed
        """
        from plait.simulate.plans._charts import draw_access

        draw_access(self.document, Path(path))

    def __str__(self) -> str:
        """Return some 40 lines of text."""
        return "\n".join(_lines(self))


def _lines(run: PlanRun) -> Iterator[str]:
    document = run.document
    ranks = len(document["ranks"]["bytes"])
    yield f"{count(ranks, 'rank')} on {count(document['nodes'], 'node')} of {document['machine']['name']}"
    yield ""
    yield from run.explained.splitlines()
    yield ""
    yield f"elapsed    {seconds(run.elapsed)}, {size(run.rate)}/s of the file"
    if document["drained"] > run.elapsed:
        yield f"           {seconds(document['drained'])} until all is on the device"
    yield f"file       {count(run.requests, 'request')}, {size(run.bytes)}"
    yield f"messages   {run.messages:,} between nodes, {size(run.message_bytes)}"
    yield ""
    yield "phase           mean       most   rank"
    for name, times in run.phases.items():
        yield f"{name:<9}{seconds(times['mean']):>11}{seconds(times['most']):>11}{times['rank']:>7,}"
    yield ""
    yield from _links(document)
    yield from _devices(document)
    yield from _hot_spots(run)
    for note in run.notes:
        yield f"note: {note}"


def _node(number: int, nodes: int) -> str:
    """Return the name of one end of a link; the number after the last node stands for the file system."""
    return "files" if number == nodes else f"node {number:,}"


def _links(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines about the links with the most bytes."""
    links = sorted(document["links"], key=lambda link: (-link[3], link[0], link[1]))
    if not links:
        return
    yield "from          to              number      bytes"
    for sender, receiver, messages, length in links[:_MAX_LISTED]:
        names = _node(sender, document["nodes"]), _node(receiver, document["nodes"])
        yield f"{names[0]:<13} {names[1]:<13}{messages:>9,} {size(length):>10}"
    if len(links) > _MAX_LISTED:
        yield f"and {count(len(links) - _MAX_LISTED, 'link')} more"
    yield ""


def _devices(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines about the busiest servers."""
    devices = sorted(document["devices"], key=lambda use: -use["busy"])
    yield "server                 requests      bytes       busy"
    for use in devices[:_MAX_LISTED]:
        moved = size(use["read_bytes"] + use["write_bytes"])
        busy_share = share(use["busy"] / document["drained"]) if document["drained"] > 0 else "0 %"
        requests = use["reads"] + use["writes"]
        yield f"{use['name'][:20]:<20}{requests:>11,} {moved:>10} {seconds(use['busy']):>10}, {busy_share}"
    if len(devices) > _MAX_LISTED:
        yield f"and {len(devices) - _MAX_LISTED:,} more"
    yield ""


def _hot_spots(run: PlanRun) -> Iterator[str]:
    """Yield lines about the rank, the node and the server with the highest load."""
    spots = run.hot_spots
    reader, node, server = spots["reader"], spots["node"], spots["server"]
    role = "writer" if run["access"]["action"] == "write" else "reader"
    yield (
        f"most       {role}: rank {reader['rank']:,}, {size(reader['bytes'])} in "
        f"{count(reader['requests'], 'request')}, {seconds(reader['file'])}"
    )
    yield f"           node: {node['node']:,}, {size(node['bytes'])} over its link; {size(node['mean'])} is the mean"
    yield f"           server: {server['name']}, busy {seconds(server['busy'])}; {seconds(server['mean'])} is the mean"
