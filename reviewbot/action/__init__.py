"""The door of the GitHub Action: the event file in, outputs, summary, annotations and one review out."""
