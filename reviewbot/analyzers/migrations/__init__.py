"""What a migration does to the tables of a database."""
