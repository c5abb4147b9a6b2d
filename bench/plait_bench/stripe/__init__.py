"""The measurements of `plait bench stripe`."""
