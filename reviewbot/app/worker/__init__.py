"""Durable runs: each review request gets one review, also after a crash.

`runner.py` carries out one run, `engine.py` the only module that knows DBOS, `worker.py` a
whole worker. What fetches, reviews and posts is handed in as `RunSteps`.
"""
