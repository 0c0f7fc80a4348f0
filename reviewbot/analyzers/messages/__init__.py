"""Keys of messages that a change takes away while code still asks for them."""
