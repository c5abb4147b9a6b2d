"""`plait bench accesses`: accesses as they are, beside what the simulation predicts."""
