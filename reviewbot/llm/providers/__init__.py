"""Who serves models."""
