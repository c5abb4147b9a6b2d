"""What `plait copy` does: here or by ranks of its own, until it is told to stop."""
