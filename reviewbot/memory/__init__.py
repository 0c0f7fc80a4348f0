"""What is remembered of findings from one push to the next: their names, their states, and what people decided."""
