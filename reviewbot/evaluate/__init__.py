"""How good the reviews are: labelled cases in, rows of results out, and counts that say how far each rule is trusted.

`cases` and `runner` never read a label; `labels`, `matching` and `rule_counts` never run a review.
"""
