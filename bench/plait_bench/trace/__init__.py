"""What `plait bench trace` measures."""
