"""What `plait bench pipe` measures."""
