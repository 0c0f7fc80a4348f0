"""What is around a hunk: definitions, callers, imports, history, comments and conventions. Read, never run."""
