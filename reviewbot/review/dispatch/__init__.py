"""Runs the tasks of a plan, and decides what follows an outcome."""
