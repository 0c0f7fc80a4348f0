"""What is put in front of a model, in the order in which it is read."""
