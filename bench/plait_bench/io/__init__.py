"""The measurements of `plait bench io`."""
