"""The inbox of accepted deliveries that are not yet runs, and the counts that workers leave for the metrics.

A SQLite file or Postgres, by the same statements. The web process writes and waits for the disk; workers take.
"""
