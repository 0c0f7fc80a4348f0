"""What is said to a model, and what is believed of its answers. Knows no provider: see `reviewbot.ports.Model`."""
