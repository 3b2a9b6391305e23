"""The terminal screen: what a turn does, drawn; what a person types, read."""
