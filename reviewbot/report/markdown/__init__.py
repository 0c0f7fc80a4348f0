"""The review as a Markdown comment."""
