"""Where the service runs by itself: its data folder, embedded servers and the processes it starts."""
