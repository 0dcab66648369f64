"""When an alert is raised: conditions, the metrics that they name, and what runs and their history say of them."""
