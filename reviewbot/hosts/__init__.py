"""Code hosts: read a pull request, and post a review."""
