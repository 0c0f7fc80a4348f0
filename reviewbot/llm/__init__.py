"""Everything about calls to language models that knows no provider."""
