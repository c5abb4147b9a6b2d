"""One of the two processes of `plait bench trace`: times the requested calls, line by line."""

from __future__ import annotations

import os
import sys

from plait import _trace


def main() -> None:
    """Answer each line `CALL SIZE COUNT` with the nanoseconds of a call; the arguments are the file and the core."""
    os.sched_setaffinity(0, {int(sys.argv[2])})
    for line in sys.stdin:
        call, size, count = line.split()
        print(_trace.time_calls(call, sys.argv[1], int(size), int(count)), flush=True)


if __name__ == "__main__":
    main()
