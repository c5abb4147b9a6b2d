"""The measurements of `plait bench blocks`."""
