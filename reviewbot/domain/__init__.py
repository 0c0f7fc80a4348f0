"""The contracts that cross modules, the protocols of the outside (`ports.py`), and all errors."""
