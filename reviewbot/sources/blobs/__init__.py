"""Files of repositories kept on this machine by their git hash: fetched once, read by every review."""
