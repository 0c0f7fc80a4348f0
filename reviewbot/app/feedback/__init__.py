"""What people make of findings, in the App: labels, and decisions of the human queue."""
