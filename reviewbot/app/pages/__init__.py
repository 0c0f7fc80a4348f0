"""The pages of the App: runs, findings, costs and settings for people who signed in. Server-rendered, no scripts."""
