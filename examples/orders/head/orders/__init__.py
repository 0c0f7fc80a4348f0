"""The service behind the orders of the shop."""
