"""What a formula's value can be, and how values become numbers, texts, criteria and formatted text."""
