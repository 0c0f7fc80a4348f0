"""The GitHub Action: reads the event file; writes outputs, summary, annotations and one review."""
