"""What `plait bench patterns` measures."""
