"""The measurements of `plait bench distant`."""
