"""The two stages of the review of a fork's pull request."""
