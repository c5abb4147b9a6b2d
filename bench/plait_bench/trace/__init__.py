"""The measurements of `plait bench trace`."""
