"""The measurements of `plait bench shared`."""
