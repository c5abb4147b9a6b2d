"""What `plait bench copy` measures."""
