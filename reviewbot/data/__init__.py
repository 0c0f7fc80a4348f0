"""Tables as data, each with its date and source."""
