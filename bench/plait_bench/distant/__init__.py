"""What `plait bench distant` measures."""
