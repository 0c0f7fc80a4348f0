"""The way of a review: `pipeline.py`, then `plan`, `dispatch`, `verify` and `combine`, in this order."""
