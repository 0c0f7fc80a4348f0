"""From what the workers found to one review: deduplicated, weighed, suppressed, ranked."""
