"""The measurements of `plait bench copy`."""
