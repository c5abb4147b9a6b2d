"""Test parameters that depend on whether the ranks are on several hosts.

scripts/hosts.py makes such hosts on one machine, starts the ranks there, and lists the hosts in PLAIT_HOSTS.
"""

import os

HOSTS = os.environ.get("PLAIT_HOSTS", "").split(",") if os.environ.get("PLAIT_HOSTS") else []
SEVERAL_HOSTS = len(HOSTS) > 1

# The numbers of ranks that tests treat as one node (PLAIT_NODE_SIZE); 0: the real nodes.  On several hosts the tests
# use only the real nodes.
NODE_SIZES = (0,) if SEVERAL_HOSTS else (0, 1, 2)
SEVERAL_NODES = (0,) if SEVERAL_HOSTS else (1, 2)

# The minimum staging memory of a two-phase access, in elements: messages between nodes need additional buffers.
MIN_STAGED_ELEMENTS = 4 if SEVERAL_HOSTS else 2
