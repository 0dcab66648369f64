"""What the service does while something that it depends on is away: breakers, levels, fallbacks."""
