"""How files are opened, read, told apart and changed, below one folder and nowhere else."""
