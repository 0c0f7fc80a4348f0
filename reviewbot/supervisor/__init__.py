"""The supervisor: plans, dispatches and judges; it never reads code for defects itself."""
