"""The tool layer: what a worker may call. Every tool belongs to exactly one worker and only reads."""
