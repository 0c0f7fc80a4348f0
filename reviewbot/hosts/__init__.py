"""Code hosts: how a pull request is read, and a review posted."""
