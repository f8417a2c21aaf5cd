"""Every bound of the project, with its unit in the name and its reason beside it."""

# Label sources: large enough for any hand-made set, small enough to be read whole and shown whole.
LABEL_FILE_MAX_BYTES = 1_048_576
LABEL_QUERIES_MAX = 1_000
LABEL_QUERY_MAX_CHARACTERS = 8_000
LABEL_GOLD_PAGES_MAX = 64
# Missing gold pages whose name is looked for among like names, 0.1 s each at 100,000 notes: of another vault all are missing.
LABEL_NEAR_NAMES_MAX = 20
# Of an id that is given to a new label: it names a row in every table; those of public sets have up to 60 characters.
LABEL_ID_MAX_CHARACTERS = 200
# Judgments of another tool may be read in parts: a public set of a million rows is about as large.
FOREIGN_FILE_MAX_BYTES = 64 * 1_048_576
# A file with thousands of faults is shown by its first ones; the count of the rest is named.
LABEL_PROBLEMS_SHOWN_MAX = 20
# Text of a label that is echoed in a message; longer text is cut with an ellipsis.
MESSAGE_TEXT_MAX_CHARACTERS = 80

# A note of 16 MiB is a pasted data dump; beyond it, it is skipped with that reason.
NOTE_MAX_BYTES = 16 * 1_048_576
# Papers with figures have ten megabytes; beyond 64 a PDF is a scanned book without text.
PDF_MAX_BYTES = 64 * 1_048_576
# A dissertation has five hundred pages, a manual two thousand; a few bytes can say that there are billions.
PDF_MAX_PAGES = 10_000
PDF_TEXT_MAX_CHARACTERS = 16 * 1_048_576
# A page takes some 20 milliseconds; a PDF that is not done after minutes was made to keep its reader busy.
PDF_MAX_SECONDS = 120
PDF_MEMORY_MAX_BYTES = 2_048 * 1_048_576
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
# Three searchers bring about eight notes a query so: thirty queries take a person under an hour.
NEEDS_DEPTH_DEFAULT_PAGES = 5
# The candidate pool starts at this many chunks and grows until `depth` distinct pages are found.
CANDIDATE_POOL_MIN_CHUNKS = 20

# An index of claude-obsidian is one JSON file, some 15 KB a chunk, that is held in memory as a whole.
VAULT_META_INDEX_MAX_BYTES = 1_024 * 1_048_576
# What that product itself reads of one chunk record.
VAULT_META_RECORD_MAX_BYTES = 8 * 1_048_576

# Metrics that are cut do so here, whatever the depth.
METRIC_CUTOFF_PAGES = 10

# Saved reports are ours, but may be damaged or hostile when read again.
REPORT_MAX_BYTES = 256 * 1_048_576
# Of the reports kept of a vault: a thousand queries of ten searchers fit; the last of the same labels is among the newest few,
# and a trend of a hundred points is as wide as a terminal.
KEPT_REPORT_MAX_BYTES = 32 * 1_048_576
LAST_REPORTS_TRIED_MAX = 20
HISTORY_REPORTS_MAX = 100

# GitHub shows no more of a step's summary.
STEP_SUMMARY_MAX_BYTES = 1_048_576

# Cold latency starts one process a query: a sample of this size takes about a second.
COLD_SAMPLES_DEFAULT_QUERIES = 20
COLD_QUERY_MAX_SECONDS = 60

# Searchers of others: a person who waits a minute for one answer has given up; a thousand results with long excerpts fit.
EXTERNAL_QUERY_DEFAULT_SECONDS = 60.0
EXTERNAL_QUERY_MAX_SECONDS = 3_600.0
EXTERNAL_ANSWER_MAX_BYTES = 16 * 1_048_576
# OpenSearch and Elasticsearch refuse to return more at once, unless their owner changed it.
OPENSEARCH_RESULTS_MAX = 10_000
# A thousand queries, a thousand pages each, sixty bytes a line.
RUN_FILE_MAX_BYTES = 64 * 1_048_576

# A model is loaded at its first question, which takes some seconds; sixteen vectors of 4,096 numbers are two megabytes.
OLLAMA_MAX_SECONDS = 120.0
OLLAMA_ANSWER_MAX_BYTES = 64 * 1_048_576
# Pages that hybrid takes from each of its two rankings at least; a larger depth takes more.
FUSION_POOL_DEFAULT_PAGES = 50
# Reordering a whole pool by cosine would answer as the vectors alone do, and what words found would be lost again.
RERANKED_MIN_PAGES = 20

# Claude Code replaces longer command output by a short preview.
TERMINAL_TEXT_MAX_CHARACTERS = 30_000
WORST_MISSES_SHOWN_MAX = 10

# Whoever picks the best of what was measured on a holdout has tuned on it: five looks can make .05 into .23.
HOLDOUT_LOOKS_MAX = 5

# A year of one chat is a few megabytes; it is read whole.
TRANSCRIPT_MAX_BYTES = 64 * 1_048_576
