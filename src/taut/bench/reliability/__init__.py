"""How often taut fails, counted: the campaigns of `taut bench --reliability`, each a great many trials of one kind."""
