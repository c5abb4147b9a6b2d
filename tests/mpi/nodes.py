"""Whether the ranks are on several nodes: scripts/hosts.py starts them on hosts of its own and says so."""

import os

HOSTS = os.environ.get("PLAIT_HOSTS", "").split(",") if os.environ.get("PLAIT_HOSTS") else []
SEVERAL_HOSTS = len(HOSTS) > 1

# How many ranks of one machine a test makes believe that they are a node, 0 for nodes as they are.  Real nodes are not
# divided further.
NODE_SIZES = (0,) if SEVERAL_HOSTS else (0, 1, 2)
SEVERAL_NODES = (0,) if SEVERAL_HOSTS else (1, 2)

# The fewest elements of staging memory that a two-phase access takes: messages between nodes need buffers of their own.
FEWEST_STAGED = 4 if SEVERAL_HOSTS else 2
