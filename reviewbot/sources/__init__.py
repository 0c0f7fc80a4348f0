"""Where the files of both sides of a change come from."""
