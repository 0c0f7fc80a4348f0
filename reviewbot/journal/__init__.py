"""What a review keeps between runs, so that it can be resumed and nothing is asked twice."""
