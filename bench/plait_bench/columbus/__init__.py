"""The measurements of `plait bench columbus`."""
