"""The campaigns of `taut bench --reliability`: many trials of one kind, with failures counted."""
