"""What may be said of a report beside a limit, or of two reports beside each other."""
