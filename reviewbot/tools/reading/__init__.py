"""What a worker's model may read beside its slices: every tool belongs to one worker and has its scope."""
