"""Review -> terminal. The only folder that knows rich, and it loads it for colours and for wide characters."""
