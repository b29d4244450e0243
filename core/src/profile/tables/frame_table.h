/* The table of frames. Each distinct sp_frame has a number and, once it is
 * named, a function, a line and a mapping. The table is kept across windows. */
#ifndef SP_FRAME_TABLE_H
#define SP_FRAME_TABLE_H

#include "frame.h"
#include "name_table.h"

typedef struct sp_function {
  uint32_t name; /* number in `names` */
  uint32_t file;
  int64_t start_line;
} sp_function;

typedef struct sp_frame_mapping {
  uint64_t start;
  uint64_t limit;
  uint64_t file_offset;
  uint32_t path; /* number in `names` */
  uint32_t build_id;
} sp_frame_mapping;

typedef struct sp_location {
  sp_frame frame;
  uint32_t function; /* 0: not named yet; see sp_frame_table_function() */
  uint32_t mapping;  /* index + 1; 0: no mapping */
  int64_t line;
} sp_location;

typedef struct sp_frame_table {
  const sp_mem *mem;
  sp_name_table *names;
  const char *main_path; /* path of the main binary, or NULL */
  sp_location *locations;
  size_t location_count;
  size_t location_capacity;
  sp_index location_index;
  sp_function *functions;
  size_t function_count;
  size_t function_capacity;
  sp_index function_index;
  sp_frame_mapping *mappings;
  size_t mapping_count;
  size_t mapping_capacity;
  uint32_t main_mapping; /* index + 1; 0: not found yet */
  /* Number of the mapping found last, which the next search tries first. */
  uint32_t last_mapping;
  uint32_t unnamed; /* all locations before this one are named */
  uint32_t visited; /* where sp_frame_table_unnamed() continues */
  /* Functions that are shown for frames without a name. */
  uint32_t unknown_native;
  uint32_t unknown_runtime;
} sp_frame_table;

/* `names` and `main_path` outlive the table. */
void sp_frame_table_init(sp_frame_table *table, const sp_mem *mem,
                         sp_name_table *names, const char *main_path);
void sp_frame_table_dispose(sp_frame_table *table);

/* Find or add a frame. Returns SPANPROF_ERR_NOMEM if there is no memory. */
spanprof_status sp_frame_table_intern(sp_frame_table *table,
                                      const sp_frame *frame, uint32_t *out);

/* The location of a frame, or NULL. */
const sp_location *sp_frame_table_find(const sp_frame_table *table,
                                       const sp_frame *frame);

/* Call `fn` once for each runtime frame without a name until it fails. The next
 * call continues after the last success, or at the first frame after
 * sp_frame_table_restart(). */
typedef spanprof_status sp_frame_fn(void *data, const sp_frame *frame);
void sp_frame_table_unnamed(sp_frame_table *table, sp_frame_fn *fn, void *data);
void sp_frame_table_restart(sp_frame_table *table);

/* Set the name of a frame that is in the table and has no name yet. */
void sp_frame_table_name_set(sp_frame_table *table, const sp_frame *frame,
                             const sp_frame_name *name);

/* Get the name of a frame. Its texts are valid until the table gets another
 * name. Returns SPANPROF_ERR_STATE if the frame has no name. */
spanprof_status sp_frame_table_name_get(const sp_frame_table *table,
                                        const sp_frame *frame,
                                        sp_frame_name *out);

/* Resolve the names of all frames without one. Frames that the namer does not
 * know yet (SPANPROF_ERR_STATE), or for whose names there is no memory, are
 * shown as unknown, and the next call asks the namer again. Each call counts
 * the runtime's frames without a name in frames_unnamed. Returns
 * SPANPROF_ERR_NOMEM if there is not even memory for the unknown names. */
spanprof_status sp_frame_table_name(sp_frame_table *table,
                                    const sp_namer *namer);

/* The number (from 1) of the function that is shown for a location. The caller
 * has called sp_frame_table_name(). */
uint32_t sp_frame_table_function(const sp_frame_table *table,
                                 const sp_location *location);

size_t sp_frame_table_bytes(const sp_frame_table *table);

#endif
