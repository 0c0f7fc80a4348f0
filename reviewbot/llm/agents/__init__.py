"""The roles that ask a model in a review: readers, which find, and the judge, which rules on what they found."""
