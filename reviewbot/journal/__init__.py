"""The journal that a review keeps between runs, so that it can be resumed and no request is repeated."""
