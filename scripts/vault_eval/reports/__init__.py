"""The one report document, and its renderings."""
