"""The Distributed Array Protocol: the examples of its specification, and halos, maps and contradictions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plait
from plait.notations import distarray


class Exporter:
    """An object with the method of the protocol."""

    def __init__(self, export):
        self.export = export

    def __distarray__(self):
        return self.export


def block_part(size, ranks, rank, start, stop, **more):
    """Return the description of a block of a dimension on one rank."""
    common = {"size": size, "dist_type": "b", "proc_grid_size": ranks, "proc_grid_rank": rank}
    return {**common, "start": start, "stop": stop, **more}


def index_list_part(size, ranks, rank, indices):
    """Return the description of arbitrary indices of a dimension on one rank."""
    common = {"size": size, "dist_type": "u", "proc_grid_size": ranks, "proc_grid_rank": rank}
    return {**common, "indices": indices}


def test_block_block_of_the_specification():
    parts = [
        Exporter(
            {
                "__version__": "0.9.0",
                "buffer": np.arange(10.0).reshape(1, 10),
                "dim_data": (block_part(2, 2, rank, rank, rank + 1), block_part(10, 1, 0, 0, 10)),
            }
        )
        for rank in range(2)
    ]
    layout = distarray.from_distarray(parts)
    assert layout == plait.Layout.parse("2x10 (block, *) onto (2)")
    back = distarray.to_distarray(layout, 1, np.ones((1, 10)))
    assert back["dim_data"] == parts[1].export["dim_data"]
    assert back["buffer"].shape == (1, 10)


def test_padding_of_the_specification():
    parts = [(block_part(18, 2, 0, 0, 9, padding=(1, 1)),), (block_part(18, 2, 1, 9, 18, padding=(1, 1)),)]
    layout = distarray.from_distarray(parts)
    assert layout == plait.Layout.parse("18 (block) onto (2) halo=(1)")
    # The outer edges have boundary padding, which is part of the array; only inner positions are additional.
    first = distarray.to_distarray(layout, 0, np.arange(11))
    assert first["dim_data"][0]["padding"] == (0, 1)
    assert first["buffer"].tolist() == list(range(1, 11))
    second = distarray.to_distarray(layout, 1, np.arange(11))
    assert second["dim_data"][0]["padding"] == (1, 0)
    assert second["buffer"].tolist() == list(range(10))


def test_periodic_padding_becomes_a_periodic_halo():
    parts = [(block_part(8, 2, rank, 4 * rank, 4 * rank + 4, padding=(2, 1), periodic=True),) for rank in range(2)]
    layout = distarray.from_distarray(parts)
    assert layout == plait.Layout.parse("8 (block) onto (2) halo=(2:1) periodic=(0)")
    assert [distarray.to_distarray(layout, rank)["dim_data"] for rank in range(2)] == parts
    assert distarray.to_distarray(layout, 0, np.arange(7))["buffer"].tolist() == list(range(7))


def test_unstructured_of_the_specification_must_ascend():
    indices = [[19, 1, 0, 12, 2, 15, 4], [6, 13, 3]]
    other_indices = sorted(set(range(30)) - {*indices[0], *indices[1]})
    with pytest.raises(plait.ArgumentError, match="rank 0: index 1 follows 19"):
        distarray.from_distarray(
            [(index_list_part(30, 3, rank, part),) for rank, part in enumerate([*indices, other_indices])]
        )
    parts = [sorted(indices[0]), sorted(indices[1]), other_indices]
    layout = distarray.from_distarray([(index_list_part(30, 3, rank, part),) for rank, part in enumerate(parts)])
    assert [layout.indices(rank)[0].tolist() for rank in range(3)] == parts
    back = [distarray.to_distarray(layout, rank)["dim_data"][0] for rank in range(3)]
    assert [dimension["indices"].tolist() for dimension in back] == parts


@given(st.data())
@settings(max_examples=150)
def test_cyclic_against_the_specification(data):
    size, ranks, block_size = data.draw(st.integers(0, 20)), data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    parts = []
    for rank in range(ranks):
        common = {"size": size, "dist_type": "c", "proc_grid_size": ranks, "proc_grid_rank": rank}
        parts.append(({**common, "start": min(rank * block_size, size), "block_size": block_size},))
    layout = distarray.from_distarray(parts)
    for rank in range(ranks):
        start = parts[rank][0]["start"]
        expected = [
            i for first in range(start, size, block_size * ranks) for i in range(first, min(first + block_size, size))
        ]
        assert layout.indices(rank)[0].tolist() == expected
        if block_size == 1:  # the specification: a slice of start, size and proc_grid_size
            assert expected == list(range(size))[slice(start, size, ranks)]


def test_the_order_of_buffers_becomes_the_order_of_the_layout():
    buffers = [np.zeros((2, 3), order="F")] * 2
    parts = [{"dim_data": (block_part(4, 2, r, 2 * r, 2 * r + 2), {}), "buffer": b} for r, b in enumerate(buffers)]
    layout = distarray.from_distarray(parts)
    assert layout == plait.Layout.parse("4x3 (block, *) onto (2) order=F")
    assert distarray.from_distarray([distarray.to_distarray(layout, r, b) for r, b in enumerate(buffers)]) == layout
    with pytest.raises(plait.ArgumentError, match="only a buffer can say"):
        distarray.to_distarray(layout, 0)
    with pytest.raises(plait.ArgumentError, match="has the shape"):
        distarray.to_distarray(layout, 0, np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([], "no parts"),
        ([(block_part(8, 2, 0, 0, 4),)], "1 parts, but proc_grid_size"),
        ([(block_part(8, 2, 1, 4, 8),), (block_part(8, 2, 0, 0, 4),)], "part 0 has proc_grid_rank"),
        ([(block_part(8, 2, 0, 0, 4),), (block_part(9, 2, 1, 4, 8),)], "size is 8 on one rank and 9"),
        ([(block_part(8, 2, 0, 0, 4),), (block_part(8, 2, 1, 5, 8),)], "the one before ends at 4"),
        ([(block_part(8, 2, 0, 0, 4),), (block_part(8, 2, 1, 4, 7),)], "end at 7"),
        ([(block_part(8, 2, 0, 0, 4),), (index_list_part(8, 2, 1, [4, 5, 6, 7]),)], "dist_type"),
        (
            [(index_list_part(4, 2, 0, [0, 1]),), (index_list_part(4, 2, 1, [1, 2, 3]),)],
            "index 1 has more than one owner",
        ),
        ([(index_list_part(4, 2, 0, [0, 1]),), (index_list_part(4, 2, 1, [3]),)], "index 2 belongs to no rank"),
        ([(index_list_part(4, 2, 0, [0, 1]),), (index_list_part(4, 2, 1, [2, 4]),)], "index 4 is out of bounds"),
        ([(index_list_part(4, 2, 0, [-1, 0, 1]),), (index_list_part(4, 2, 1, [2, 3]),)], "index -1 is out of bounds"),
        ([({"size": 4, "dist_type": "x"},)], "dist_type is 'x'"),
        ([({},)], "there is no size"),
        ([({"size": 4, "dist_type": "b", "proc_grid_size": 1},)], "no proc_grid_rank"),
        ([(block_part(9, 3, r, 3 * r, 3 * r + 3, padding=(r, 1)),) for r in range(3)], "padding differs"),
        ([{"buffer": None}], "expected dim_data"),
        ([{"dim_data": (), "__version__": "7.0"}], "version 7.0"),
    ],
)
def test_contradictory_parts_are_errors(parts, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        distarray.from_distarray(parts)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("8x8 (block, block) onto (2, 2) ranks=F", "C order of the grid"),
        ("8x8 (block@0, *) onto (2, 2) replicate=(1)", "2 ranks hold each element"),
        ("8x8 (block, *) onto (2) halo=(0, 1)", "no neighbours"),
    ],
)
def test_layouts_that_the_notation_cannot_express_are_rejected(text, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        distarray.to_distarray(plait.Layout.parse(text), 0)
