"""Secrets in text: where they stand, and texts without them. Pure."""
