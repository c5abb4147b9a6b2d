"""What `plait bench orders` measures."""
