"""The faults that storm.py injects in the middle of a run: a rank or the network link of its host fails.

kill: the rank is killed. cut: the link goes down. stop and flap: the rank or the link stops for some seconds only.
"""

import os
import signal
import subprocess
import time
from dataclasses import dataclass

# The seconds within which a request to a lost rank must fail (src/transport/active_messages.hpp).
LIMITS = {"kill": 10.0, "cut": 30.0}
# A rank or link that stops for so long must not be considered lost.
PAUSE_SECONDS = 4


@dataclass
class Fault:
    """A fault of one rank in one phase; `cut` and `flap` affect its whole host."""

    kind: str  # none, kill, cut, stop, flap
    victim: int
    phase: int
    first: bool  # before the first operation of that phase, rather than in its middle
    hosts: list[str]  # names of the hosts of all ranks

    def ranks_lost_to(self, rank: int) -> set[int]:
        """Returns the ranks that a rank cannot reach after the fault; for a killed victim all others."""
        ranks = range(len(self.hosts))
        if self.kind == "kill":
            return {self.victim} if rank != self.victim else set(ranks) - {rank}
        if self.kind == "cut":
            return {other for other in ranks if self.is_on_victim_host(other) != self.is_on_victim_host(rank)}
        return set()

    def is_on_victim_host(self, rank: int) -> bool:
        return self.hosts[rank] == self.hosts[self.victim]

    def inject(self) -> None:
        """Makes the fault happen; called by the victim."""
        link = ["ip", "link", "set", "eth0"]
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.kind == "stop":
            resume = f"sleep {PAUSE_SECONDS}; kill -CONT {os.getpid()}"
            helper = subprocess.Popen(["sh", "-c", resume])
            os.kill(os.getpid(), signal.SIGSTOP)
            helper.wait()
        elif self.kind in ("cut", "flap"):
            subprocess.run([*link, "down"], check=True)
            if self.kind == "flap":
                time.sleep(PAUSE_SECONDS)
                subprocess.run([*link, "up"], check=True)
