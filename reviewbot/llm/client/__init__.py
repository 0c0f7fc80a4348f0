"""The chain that every call to a model goes through; `stack.py` puts it together."""
