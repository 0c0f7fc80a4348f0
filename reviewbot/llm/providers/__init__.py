"""Adapters for the providers of models."""
