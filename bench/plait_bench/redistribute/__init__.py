"""What `plait bench redistribute` measures."""
