"""Making labels: adding, suggesting, checking and splitting them, without touching anything else in the files that hold them."""
