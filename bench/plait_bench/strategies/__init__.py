"""What `plait bench strategies` measures."""
