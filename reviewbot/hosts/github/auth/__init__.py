"""Authentication at GitHub: a token, the one that `gh` keeps, or the App's own key."""
