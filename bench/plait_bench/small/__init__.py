"""`plait bench small`: the fixed costs of accesses to small arrays, and of single slices."""
