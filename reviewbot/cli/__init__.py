"""What each command of the command line does, given its arguments; the result is the exit code.

One module per group of commands, so that each loads only what it needs.
"""
