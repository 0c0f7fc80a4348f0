"""What is said of one finding, in plain values: the same words in every format and at every place."""
