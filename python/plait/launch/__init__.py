"""Starts ranks under the MPI launcher of this environment, for the commands that need several ranks.

This package holds the part of the command; plait.launch.ranks holds the part of the ranks.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.launch._program import (
        Event,
        LaunchError,
        LocalRankProgram,
        RankProgram,
        StalledError,
        find_mpiexec,
        require_mpi,
    )
else:
    from plait._base.later import later as _later

    __getattr__, __dir__ = _later(
        __name__,
        {
            "_program": [
                "Event",
                "LaunchError",
                "LocalRankProgram",
                "RankProgram",
                "StalledError",
                "find_mpiexec",
                "require_mpi",
            ]
        },
    )

__all__ = ["Event", "LaunchError", "LocalRankProgram", "RankProgram", "StalledError", "find_mpiexec", "require_mpi"]
