"""The App's databases: the inbox of deliveries, and durable runs."""
