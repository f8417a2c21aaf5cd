"""Why a gold page was missed: a closed list of causes, and the first of them that holds."""
