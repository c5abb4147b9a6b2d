"""The measurements of `plait bench strategies`."""
