"""What there is to see: the browser, pictures, plots, and files for other programs."""
