"""How we are let in: a token, what the gh program keeps, or the App's own key."""
