"""Every bound of the project, with its unit in the name and its reason beside it."""

# Label sources: large enough for any hand-made set, small enough to be read whole and shown whole.
LABEL_FILE_MAX_BYTES = 1_048_576
LABEL_QUERIES_MAX = 1_000
LABEL_QUERY_MAX_CHARACTERS = 8_000
LABEL_GOLD_PAGES_MAX = 64
# A file with thousands of faults is shown by its first ones; the count of the rest is named.
LABEL_PROBLEMS_SHOWN_MAX = 20
# Text of a label that is echoed in a message; longer text is cut with an ellipsis.
MESSAGE_TEXT_MAX_CHARACTERS = 80

# A note of 16 MiB is a pasted data dump; beyond it, it is skipped with that reason.
NOTE_MAX_BYTES = 16 * 1_048_576
# Obsidian's own app.json is a few kilobytes.
OBSIDIAN_CONFIG_MAX_BYTES = 1_048_576
# Folders nested deeper than this are not made by people; the walk stops there and says so.
VAULT_DEPTH_MAX_FOLDERS = 100

# Each star of a glob may try every length: a few are what people write, twenty take longer than a lifetime.
GLOB_STARS_MAX = 8

# Chunks: a screenful of text is the target; a piece over the hard limit is never made.
CHUNK_TARGET_CHARACTERS = 2_000
CHUNK_MAX_CHARACTERS = 4_000
CHUNK_OVERLAP_CHARACTERS = 200

# recall@10 needs ten; beyond a thousand pages nobody reads the answer.
DEPTH_MIN_PAGES = 10
DEPTH_MAX_PAGES = 1_000
DEPTH_DEFAULT_PAGES = 10
# The candidate pool starts at this many chunks and grows until `depth` distinct pages are found.
CANDIDATE_POOL_MIN_CHUNKS = 20

# Metrics that are cut do so here, whatever the depth.
METRIC_CUTOFF_PAGES = 10

# Saved reports are ours, but may be damaged or hostile when read again.
REPORT_MAX_BYTES = 256 * 1_048_576

# Cold latency starts one process a query: a sample of this size takes about a second.
COLD_SAMPLES_DEFAULT_QUERIES = 20
COLD_QUERY_MAX_SECONDS = 60

# Claude Code replaces longer command output by a short preview.
TERMINAL_TEXT_MAX_CHARACTERS = 30_000
WORST_MISSES_SHOWN_MAX = 10
