"""What a command writes: reports, messages, reports of faults."""
