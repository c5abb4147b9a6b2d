"""Cases, driver and table of `plait bench orders`."""
