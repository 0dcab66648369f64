"""What every area stands on, and which knows none of them."""
