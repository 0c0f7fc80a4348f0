"""The files of a commit through GitHub's API."""
