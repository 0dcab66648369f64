"""Views of breakers and fallbacks, and jobs that the API runs without a worker."""
