"""Show results: in the browser, as pictures and plots, and as files for other programs."""
