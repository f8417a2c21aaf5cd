"""Notes to chunks to terms to postings, and the file that holds them."""
