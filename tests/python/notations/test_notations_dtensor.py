"""DTensor's placements, compared with a reimplementation of torch.chunk, and with PyTorch if it is installed."""

import itertools
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plait
from plait.notations import dtensor


def chunk(indices, count):
    """Return the result of torch.chunk, filled up with empty pieces."""
    size = -(-len(indices) // count)
    return [indices[c * size : (c + 1) * size] for c in range(count)]


def strided_shards(indices, count, split):
    """Return the result of _StridedShard: each of the split pieces is chunked, and equal positions are joined."""
    pieces = [chunk(piece, count) for piece in chunk(indices, split)]
    return [[index for piece in pieces for index in piece[c]] for c in range(count)]


def local_indices(shape, mesh, placements, position):
    """Return the indices of each tensor dimension at a mesh position, by sharding one mesh dimension after another."""
    index_sets = [list(range(size)) for size in shape]
    for (kind, *arguments), extent, c in zip(placements, mesh, position, strict=True):
        if kind == "S":
            index_sets[arguments[0]] = chunk(index_sets[arguments[0]], extent)[c]
        elif kind == "_S":
            index_sets[arguments[0]] = strided_shards(index_sets[arguments[0]], extent, arguments[1])[c]
    return index_sets


def placement_text(placement):
    kind, *arguments = placement
    return f"{kind}({', '.join(map(str, arguments))})" if arguments else kind


@st.composite
def sharded_tensors(draw):
    """Draw a tensor's shape, a mesh, and a placement for each mesh dimension."""
    shape = tuple(draw(st.lists(st.integers(0, 13), min_size=1, max_size=2)))
    mesh = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    dimension = st.integers(0, len(shape) - 1)
    placement = st.one_of(
        st.just(("R",)), st.tuples(st.just("S"), dimension), st.tuples(st.just("_S"), dimension, st.integers(2, 4))
    )
    return shape, mesh, [draw(placement) for _ in mesh]


@given(sharded_tensors())
@settings(max_examples=400)
def test_placements_mean_what_torch_means(case):
    shape, mesh, placements = case
    layout = dtensor.from_placements([placement_text(placement) for placement in placements], mesh, shape)
    for rank, position in enumerate(itertools.product(*map(range, mesh))):
        assert [part.tolist() for part in layout.indices(rank)] == local_indices(shape, mesh, placements, position)
    if all(placement[0] != "_S" for placement in placements):
        converted, ranks = dtensor.to_placements(layout)
        assert dtensor.from_placements(converted, ranks.shape, shape, ranks=ranks) == layout


def test_right_to_left_sharding_equals_the_documented_example():
    # The example of PyTorch's documentation: tensor parallel first, then FSDP, on a mesh of (2, 2).
    layout = dtensor.from_placements(["_S(0, 2)", "S(0)"], (2, 2), (8, 8))
    assert [layout.indices(rank)[0].tolist() for rank in range(4)] == [[0, 1], [4, 5], [2, 3], [6, 7]]
    assert dtensor.to_placements(layout, np.arange(4).reshape(2, 2)).placements == ("_S(0, 2)", "S(0)")
    ordered = dtensor.from_placements(["S(0)", "S(0)"], (2, 2), (8, 8))
    assert [ordered.indices(rank)[0].tolist() for rank in range(4)] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert dtensor.to_placements(ordered, np.arange(4).reshape(2, 2)).placements == ("S(0)", "S(0)")


def test_uneven_shards_are_nested():
    layout = dtensor.from_placements(["Shard(dim=0)", "Shard(0)"], (2, 2), (5,))
    assert [layout.indices(rank)[0].tolist() for rank in range(4)] == [[0, 1], [2], [3], [4]]
    assert dtensor.to_placements(layout).placements == ("S(0)", "S(0)")
    # The mesh is reconstructed if only its blocks remain.
    assert dtensor.to_placements(plait.Layout.parse("5 (gen_block(2, 1, 1, 1)) onto (4)")).placements == (
        "S(0)",
        "S(0)",
    )


def test_a_single_strided_shard_distributes_in_turn():
    layout = dtensor.from_placements(["_S(0, 4)"], (3,), (24,))
    assert layout == plait.Layout.parse("24 (cyclic(2)) onto (3)")
    assert dtensor.to_placements(layout).placements == ("_S(0, 4)",)


def test_replicas_and_ranks_of_the_mesh():
    layout = dtensor.from_placements(["Replicate()", "S(-1)"], (2, 2), (4, 6), ranks=[[1, 3], [0, 2]])
    assert layout.replicas == 2
    assert [part.tolist() for part in layout.indices(3)] == [[0, 1, 2, 3], [3, 4, 5]]
    placements, ranks = dtensor.to_placements(layout, [[1, 3], [0, 2]])
    assert placements == ("R", "S(1)")
    assert ranks.tolist() == [[1, 3], [0, 2]]
    with pytest.raises(plait.ArgumentError, match="do not ascend"):
        dtensor.from_placements(["S(0)", "R"], (2, 2), (4, 6), ranks=[[1, 3], [0, 2]])


class Shard:
    def __init__(self, dim):
        self.dim = dim


class _StridedShard(Shard):
    def __init__(self, dim, split_factor):
        super().__init__(dim)
        self.split_factor = split_factor


class Replicate:
    pass


class Partial:
    reduce_op = "sum"


def test_objects_with_the_attributes_of_torch():
    mesh = SimpleNamespace(mesh=np.array([[0, 2], [1, 3]]))
    tensor = SimpleNamespace(placements=(_StridedShard(0, 2), Shard(0)), device_mesh=mesh, shape=(8, 8))
    expected = dtensor.from_placements(["_S(0, 2)", "S(0)"], (2, 2), (8, 8), ranks=[[0, 2], [1, 3]])
    assert dtensor.from_dtensor(tensor) == expected
    tensor.placements = (Replicate(), Partial())
    with pytest.raises(plait.ArgumentError, match="mesh dimension 1 has a reduction pending"):
        dtensor.from_dtensor(tensor)


@pytest.mark.parametrize(
    ("placements", "mesh", "reason"),
    [
        (["S(0)"], (2, 2), "has length 1; expected 2, the number of mesh dimensions"),
        (["S(2)"], (2,), "2 dimensions"),
        (["P"], (2,), "reduction pending"),
        (["Partial(sum)"], (2,), "reduction pending"),
        (["T(0)"], (2,), "expected Shard"),
        (["S(0)"], (0,), "integers of 1 or more"),
    ],
)
def test_invalid_placements_are_errors(placements, mesh, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        dtensor.from_placements(placements, mesh, (8, 8))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("10 (balanced) onto (4)", "torch.chunk"),
        ("10 (cyclic(3)) onto (2)", "torch.chunk"),
        ("8x8 (block, *) onto (2) order=F", "order=F"),
        ("8 (block) onto (4) ranks=(3, 1, 0, 2)", "ascending ranks"),
        ("8 (block) onto (2) halo=(1)", "halos"),
    ],
)
def test_layouts_that_the_notation_cannot_express_are_rejected(text, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        dtensor.to_placements(plait.Layout.parse(text))
    with pytest.raises(plait.ArgumentError, match="pieces"):  # pieces of 3, 3, 3 and 0 indices instead of 3, 2, 2 and 2
        dtensor.to_placements(plait.Layout.parse("9 (block) onto (4)"), np.arange(4).reshape(2, 2))
    with pytest.raises(plait.ArgumentError, match="pieces"):
        dtensor.to_placements(plait.Layout.parse("8x8 (block, block) onto (2, 2)"), np.arange(4))


def test_tensors_of_torch(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    program = Path(__file__).with_name("notation_tensors.py")
    result = subprocess.run(
        [sys.executable, program, tmp_path], capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.split() == ["78", "tensors"]


def test_placements_of_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from torch.distributed.tensor import Replicate, placement_types
    from torch.distributed.tensor import Shard as TorchShard

    split = placement_types._StridedShard(0, split_factor=2)
    layout = dtensor.from_placements([split, TorchShard(0), Replicate()], (2, 2, 2), (9, 4))
    assert layout == dtensor.from_placements(["_S(0, 2)", "S(0)", "R"], (2, 2, 2), (9, 4))
    texts = dtensor.to_placements(layout, np.arange(8).reshape(2, 2, 2)).placements
    objects = dtensor.to_placements(layout, np.arange(8).reshape(2, 2, 2), objects=True).placements
    assert tuple(map(str, objects)) == texts
    for size, parts, pieces in itertools.product(range(12), range(1, 5), range(1, 4)):
        tensor = torch.arange(size)
        for kind, placement in (
            (f"S({0})", TorchShard(0)),
            (f"_S(0, {pieces})", placement_types._StridedShard(0, split_factor=pieces)),
        ):
            shards, _ = placement._split_tensor(tensor, parts, with_padding=False)
            converted = dtensor.from_placements([kind], (parts,), (size,))
            assert [shard.tolist() for shard in shards] == [converted.indices(r)[0].tolist() for r in range(parts)]
