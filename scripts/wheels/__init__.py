"""What builds wheels and tries them."""
