/* Readers of JSON files. Each one checks whether a document has its format, and
 * adds its stacks. */
#ifndef SP_FOREIGN_JSON_H
#define SP_FOREIGN_JSON_H

#include "foreign_sums.h"
#include "json_tree.h"

/* The fields of a document are those of the format's definition. A reader
 * returns SPANPROF_ERR_FORMAT and sets the error message if the document is
 * malformed, or the statuses of sp_foreign_add(). */
typedef struct sp_foreign_format {
  const char *name;
  bool (*is)(const sp_json_node *root);
  spanprof_status (*read)(sp_foreign *foreign, const sp_json_node *root);
} sp_foreign_format;

/* The file format of speedscope. Profiles of one unit have one type; each
 * profile is a thread. */
extern const sp_foreign_format sp_foreign_speedscope;

/* CPU profiles of V8 (.cpuprofile) from Chrome's developer tools and node
 * --cpu-prof. Idle time is left out. */
extern const sp_foreign_format sp_foreign_cpuprofile;

/* Heap profiles of V8 (.heapprofile), with the sizes of live objects. */
extern const sp_foreign_format sp_foreign_heapprofile;

/* The format of profiler.firefox.com, which Firefox, samply and vernier
 * write. */
extern const sp_foreign_format sp_foreign_firefox;

/* JSON of stackprof, a profiler of Ruby. */
extern const sp_foreign_format sp_foreign_stackprof;

/* Flame graphs in the answers of Pyroscope's API, "flamebearer". The baseline
 * of a comparison is the type SP_FOREIGN_BEFORE. */
extern const sp_foreign_format sp_foreign_flamebearer;

/* Traces of Chrome's Performance panel, in the Trace Event Format. Each CPU
 * profile in the trace is a thread. Idle time is left out. */
extern const sp_foreign_format sp_foreign_trace;

/* Sets the error message "has a malformed WHAT" and returns
 * SPANPROF_ERR_FORMAT. */
spanprof_status sp_foreign_malformed(const char *what);

/* Sets the message for a stack of more than SP_FOREIGN_DEPTH_MAX frames, which
 * may be a cycle, and returns SPANPROF_ERR_FORMAT. */
spanprof_status sp_foreign_too_deep(void);

/* Nanoseconds in a unit of time such as "ms" or "microseconds"; 0 for other
 * units. */
double sp_foreign_unit_ns(sp_view unit);

#endif
