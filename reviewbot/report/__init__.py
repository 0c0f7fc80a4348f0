"""One review, many outputs: the terminal, JSON and Markdown. Each is a pure function of a `Review`."""
