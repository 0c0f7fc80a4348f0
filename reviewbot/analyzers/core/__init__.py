"""What all analyzers share: running them once for a file, programs and their confinement, rules, reports."""
