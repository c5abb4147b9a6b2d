"""What `plait bench io` measures."""
