"""Where names are defined in Python, TypeScript, JavaScript, Go, Java and Ruby: parsed when looked up."""
