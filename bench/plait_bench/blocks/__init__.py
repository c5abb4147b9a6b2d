"""What `plait bench blocks` measures."""
