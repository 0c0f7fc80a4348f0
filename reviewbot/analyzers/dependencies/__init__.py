"""Dependencies that a change adds: their names, where they come from, and whether the lock file knows them."""
