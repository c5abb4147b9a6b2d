"""New arrays in hierarchies of folders."""
