"""Make a finished review again from its trace: no model or host is asked, and the change itself is not needed.

What the workers brought is taken from the trace as it was judged there; planner and engine are not asked again. What is
made of it, merging, filtering, ranking and the verdict, is done anew by the very code that made the review.
"""
