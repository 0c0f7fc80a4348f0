"""Commands that read the trace of a review."""
