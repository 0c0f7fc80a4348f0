"""Shared by the App's processes: configuration, credentials, logging, supervision."""
