"""Arguments as callers give them, and what they mean."""
