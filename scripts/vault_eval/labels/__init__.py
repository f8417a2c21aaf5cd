"""Labels: judged queries, from the files and notes that people keep them in to one `LabelSet`."""
