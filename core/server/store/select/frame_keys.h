/* Gives a number, the key, to each location of the stacks that are folded. If
 * lines are merged, locations whose functions have the same names and files get
 * the same key. */
#ifndef SP_FRAME_KEYS_H
#define SP_FRAME_KEYS_H

#include "profile/tables/arena.h"
#include "row_numbers.h"

typedef struct sp_frame_names {
  sp_row_id name, file;
} sp_frame_names;

typedef struct sp_frame_keys {
  const sp_mem *mem;
  sqlite3 *db;
  bool merges_lines;
  sp_row_numbers locations;
  uint32_t *keys; /* the key of each location, which is the number of a location
                   * with the same functions; NULL if lines are not merged */
  size_t key_capacity;
  sp_row_numbers functions;
  sp_frame_names *names; /* of each function */
  size_t name_capacity;
  sp_arena arena; /* the functions of each key */
  const sp_frame_names **functions_of;
  uint32_t *function_counts;
  size_t functions_of_capacity, function_count_capacity;
  sp_index index; /* finds a key by its functions */
  sqlite3_stmt *location_row, *function_row;
} sp_frame_keys;

void sp_frame_keys_init(sp_frame_keys *keys, const sp_mem *mem, sqlite3 *db,
                        bool merges_lines);
void sp_frame_keys_dispose(sp_frame_keys *keys);

/* Get the key of a location. Returns SPANPROF_ERR_LIMIT if there are too many
 * locations, and SPANPROF_ERR_FORMAT if the store is damaged. */
spanprof_status sp_frame_keys_get(sp_frame_keys *keys, sp_row_id location,
                                  uint32_t *key);

#endif
