"""The measurements of `plait bench overlap`."""
