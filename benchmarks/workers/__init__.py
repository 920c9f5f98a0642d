"""The processes in which things are measured: each module is one, told by a job file, asked line by line."""
