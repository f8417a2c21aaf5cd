"""The vault as it lies on disk: names of pages, the text of notes, and reading them safely."""
