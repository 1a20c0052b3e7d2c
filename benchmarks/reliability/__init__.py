"""How often taut fails, counted.

The campaigns of `taut bench --reliability`, each a great many trials of one kind.
"""
