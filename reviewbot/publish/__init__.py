"""Publish a review: exactly one review on a host, and a check run that proves it."""
