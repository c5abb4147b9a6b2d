"""What `plait bench plan` measures."""
