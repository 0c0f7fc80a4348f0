"""The GitHub App: `web` takes deliveries, `worker` makes reviews of them, `store` keeps both."""
