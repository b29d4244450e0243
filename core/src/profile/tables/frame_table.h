/* Frames and what is known of them: each distinct sp_frame has a number, and,
 * once named, a function, a line and a mapping. Kept from window to window. */
#ifndef SP_FRAME_TABLE_H
#define SP_FRAME_TABLE_H

#include "frame.h"
#include "name_table.h"

typedef struct sp_function {
  uint32_t name; /* in `names` */
  uint32_t file;
  int64_t start_line;
} sp_function;

typedef struct sp_frame_mapping {
  uint64_t start;
  uint64_t limit;
  uint64_t file_offset;
  uint32_t path; /* in `names` */
  uint32_t build_id;
} sp_frame_mapping;

typedef struct sp_location {
  sp_frame frame;
  uint32_t function; /* 0: not named yet; sp_frame_table_function() */
  uint32_t mapping;  /* plus 1; 0: none */
  int64_t line;
} sp_location;

typedef struct sp_frame_table {
  const sp_mem *mem;
  sp_name_table *names;
  const char *main_path; /* of the main binary, or NULL */
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
  uint32_t main_mapping;   /* plus 1; 0: not seen */
  uint32_t last_mapping;   /* where the search starts */
  uint32_t unnamed;        /* locations before this one are named */
  uint32_t visited;        /* where sp_frame_table_unnamed() goes on */
  uint32_t unknown_native; /* functions for what has no name */
  uint32_t unknown_runtime;
} sp_frame_table;

/* `names` and `main_path` outlive the table. */
void sp_frame_table_init(sp_frame_table *table, const sp_mem *mem,
                         sp_name_table *names, const char *main_path);
void sp_frame_table_dispose(sp_frame_table *table);

/* The number of a frame. SPANPROF_ERR_NOMEM. */
spanprof_status sp_frame_table_intern(sp_frame_table *table,
                                      const sp_frame *frame, uint32_t *out);

/* The location of a frame, or NULL. */
const sp_location *sp_frame_table_find(const sp_frame_table *table,
                                       const sp_frame *frame);

/* Call `fn` once for each runtime frame without a name. The next call goes on
 * after the last success, or, after sp_frame_table_restart(), at the start. */
typedef spanprof_status sp_frame_fn(void *data, const sp_frame *frame);
void sp_frame_table_unnamed(sp_frame_table *table, sp_frame_fn *fn, void *data);
void sp_frame_table_restart(sp_frame_table *table);

/* Set the name of a frame that has none and is in the table. */
void sp_frame_table_name_set(sp_frame_table *table, const sp_frame *frame,
                             const sp_frame_name *name);

/* Get the name of a frame from the table. Its texts are valid until the table
 * gets another one. SPANPROF_ERR_STATE: it has none. */
spanprof_status sp_frame_table_name_get(const sp_frame_table *table,
                                        const sp_frame *frame,
                                        sp_frame_name *out);

/* Name the frames without a name. The namer is called again next time for those
 * that it does not know yet (SPANPROF_ERR_STATE), or for whose name there is no
 * memory. Until then they are shown as unknown. A runtime's frame without a
 * name is counted in frames_unnamed each time. SPANPROF_ERR_NOMEM: not even the
 * unknown have a name. */
spanprof_status sp_frame_table_name(sp_frame_table *table,
                                    const sp_namer *namer);

/* The number of the function to show for a location, from 1, after
 * sp_frame_table_name(). */
uint32_t sp_frame_table_function(const sp_frame_table *table,
                                 const sp_location *location);

size_t sp_frame_table_bytes(const sp_frame_table *table);

#endif
