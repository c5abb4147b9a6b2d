"""The measurements of `plait bench pipe`."""
