"""Where names are defined in a repository of Python, TypeScript, JavaScript and Go: parsed when they are looked up."""
