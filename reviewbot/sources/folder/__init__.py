"""A plain folder and the diff of a change to it: both sides of every file, whichever of them the folder holds."""
