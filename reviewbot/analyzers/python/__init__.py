"""What the analyzers of Python share: parsing, hunks without their file, values and statements."""
