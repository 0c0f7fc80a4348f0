"""What makes the App review: values, and pure decisions about them.

The web process makes a `Trigger` of a signed delivery and puts it into the inbox; a worker takes it from there. Both
decide by the same rules: the web process by the operator's settings, the worker once more by the repository's and by
what the API says.
"""
