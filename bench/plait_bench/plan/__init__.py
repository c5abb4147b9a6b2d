"""The measurements of `plait bench plan`."""
