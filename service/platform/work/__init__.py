"""What a process does beside requests: jobs, threads, events, mail, cleaning up."""
