"""`plait bench accesses`: compares real accesses with the predictions of the simulation."""
