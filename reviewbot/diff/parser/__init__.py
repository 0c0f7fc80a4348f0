"""The diff parser: from bytes to files, hunks and their names, checked twice."""
