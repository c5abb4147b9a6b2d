"""The measurements of `plait bench patterns`."""
