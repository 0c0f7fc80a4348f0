"""GitHub over REST and GraphQL. `client` is the one file that knows PyGithub."""
