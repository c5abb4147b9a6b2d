"""The measurements of `plait bench redistribute`."""
