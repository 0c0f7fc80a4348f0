"""What the processes of the App share: where their things are, whose they are, and how they log."""
