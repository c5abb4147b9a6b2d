"""Builds wheels and tries them."""
