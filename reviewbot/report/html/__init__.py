"""The review as one HTML page: to keep, to send, to print. It loads nothing and runs no script."""
