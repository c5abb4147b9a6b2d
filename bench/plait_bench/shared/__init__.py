"""What `plait bench shared` measures."""
