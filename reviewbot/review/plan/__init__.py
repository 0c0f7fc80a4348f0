"""From a change to a plan: which worker reads what, checked before anything runs."""
