"""What goes wrong in the middle of a run."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass

# At most so long may it take until a request of a rank that has gone fails (src/transport/active_messages.hpp).
LIMITS = {"kill": 10.0, "cut": 30.0}
# A rank, or its link, that stands still for so long is not gone.
STANDS_STILL_SECONDS = 4


@dataclass
class Fault:
    """One rank, or with `cut` its whole host, fails in one phase."""

    kind: str  # none, kill, cut, stop, flap
    victim: int
    phase: int
    first: bool  # before the first operation of that phase, rather than in its middle
    hosts: list[str]  # of each rank

    def lost_to(self, rank: int) -> set[int]:
        """Whom a rank does not reach any more after that phase; the victim itself has nobody."""
        ranks = range(len(self.hosts))
        if self.kind == "kill":
            return {self.victim} if rank != self.victim else set(ranks) - {rank}
        if self.kind == "cut":
            return {other for other in ranks if self.cut_off(other) != self.cut_off(rank)}
        return set()

    def cut_off(self, rank: int) -> bool:
        return self.hosts[rank] == self.hosts[self.victim]

    def strike(self) -> None:
        """Called by the victim."""
        link = ["ip", "link", "set", "eth0"]
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.kind == "stop":
            go_on = f"sleep {STANDS_STILL_SECONDS}; kill -CONT {os.getpid()}"
            helper = subprocess.Popen(["sh", "-c", go_on])
            os.kill(os.getpid(), signal.SIGSTOP)
            helper.wait()
        elif self.kind in ("cut", "flap"):
            subprocess.run([*link, "down"], check=True)
            if self.kind == "flap":
                time.sleep(STANDS_STILL_SECONDS)
                subprocess.run([*link, "up"], check=True)
