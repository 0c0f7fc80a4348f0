"""Run the tasks of a plan, and decide what follows an outcome."""
