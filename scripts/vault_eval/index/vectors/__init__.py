"""A vector for every chunk of an index, and how near a query is to each: computed from the postings, or kept in a file."""
