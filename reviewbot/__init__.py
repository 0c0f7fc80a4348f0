"""reviewbot reviews a change the way a careful team would; start reading at `reviewbot.review.pipeline`."""

__version__ = "0.1.0"
