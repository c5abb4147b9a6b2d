"""A program: PyTorch's own DTensors on four processes, compared with the layouts made from them.

Prints the number of compared tensors on each process; a difference ends it with an error.
"""

import itertools
import sys

import torch
from torch import distributed, multiprocessing
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, placement_types

from plait.notations import dtensor

RANKS = 4
MESHES = [torch.arange(4), torch.arange(4).reshape(2, 2), torch.tensor([[1, 3], [0, 2]]), torch.arange(4).reshape(4, 1)]


def ascends(ranks: torch.Tensor, axis: int) -> bool:
    """Return True if the ranks along a mesh dimension ascend; otherwise the order of PyTorch's shards is ambiguous."""
    return bool((ranks.diff(dim=axis) > 0).all())


def check(rank: int, folder: str) -> None:
    """Compare the elements that this process holds of every tensor."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=RANKS)
    count = 0
    for ranks, shape in itertools.product(MESHES, [(8, 6), (5, 7), (3, 1)]):
        mesh = DeviceMesh("cpu", ranks)
        whole = torch.arange(shape[0] * shape[1]).reshape(shape)
        shards = [[Replicate(), *([Shard(0), Shard(1)] if ascends(ranks, axis) else [])] for axis in range(ranks.ndim)]
        for placements in itertools.product(*shards):
            tensor = distribute_tensor(whole, mesh, placements)
            layout = dtensor.from_dtensor(tensor)
            rows, columns = layout.indices(rank)
            assert tensor.to_local().tolist() == whole[rows][:, columns].tolist(), f"{placements} of {ranks.tolist()}"
            converted = dtensor.to_placements(layout, mesh, objects=True)
            redistributed = distribute_tensor(whole, mesh, converted.placements)
            assert redistributed.to_local().tolist() == tensor.to_local().tolist()
            count += 1
        if ranks.ndim == 2 and ascends(ranks, 0):
            placements = (placement_types._StridedShard(0, split_factor=int(ranks.shape[1])), Shard(0))
            # PyTorch cannot scatter uneven strided shards from one rank, so each rank takes its own shard.
            tensor = distribute_tensor(whole, mesh, placements, src_data_rank=None)
            layout = dtensor.from_dtensor(tensor)
            rows, columns = layout.indices(rank)
            assert tensor.to_local().tolist() == whole[rows][:, columns].tolist(), f"{placements} of {ranks.tolist()}"
            count += 1
    if rank == 0:
        print(count, "tensors")
    distributed.destroy_process_group()


if __name__ == "__main__":
    multiprocessing.spawn(check, args=(sys.argv[1],), nprocs=RANKS)
