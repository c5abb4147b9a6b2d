"""What `plait bench columbus` measures."""
