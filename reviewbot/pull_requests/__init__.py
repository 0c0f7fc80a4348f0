"""Review a pull request in the three steps that command line, Action and App share: fetch, review, post."""
