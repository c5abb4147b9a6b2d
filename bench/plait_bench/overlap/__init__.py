"""What `plait bench overlap` measures."""
