"""Git, read-only: ranges, what is staged, and the files on both sides of either.

The reviewed repository is read through a private git directory that borrows nothing from it but its objects. Its
configuration, attributes, hooks, grafts, replacements, filters and remotes are therefore out of force: no program that
they name can start, and none of them can hide a change. Only the names of revisions are looked up in the real one.
"""
