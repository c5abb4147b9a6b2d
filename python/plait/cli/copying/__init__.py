"""Runs `plait copy`, in this process or by ranks that it starts, until the copy is complete or interrupted."""
