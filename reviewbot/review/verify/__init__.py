"""How far a finding can be believed."""
