"""What `plait bench stripe` measures."""
