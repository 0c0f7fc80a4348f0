"""Commands of the GitHub App."""
