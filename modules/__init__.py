"""What plugs into the heart, one subject a file."""
