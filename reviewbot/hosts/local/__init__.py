"""A local git repository with a folder of pull requests as JSON: a code host without a server (docs/hosts.md)."""
