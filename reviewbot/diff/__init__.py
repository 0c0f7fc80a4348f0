"""From the bytes of a diff to a ChangeSet, and from a quote back to its place. The only place that knows unidiff."""
