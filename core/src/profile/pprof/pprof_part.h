/* Writes one part of a window: a self-contained pprof message. The objects that
 * its samples refer to (texts, functions, mappings, locations) are numbered
 * densely from 1 and written once, before their first use. New bytes are
 * collected in `pending`. The caller checks their number before it moves them
 * to the compressor. */
#ifndef SP_PPROF_PART_H
#define SP_PPROF_PART_H

#include <profile.pb-c.h>

#include "profile/tables/frame_table.h"
#include "util/memory/buffer.h"

/* Maps the number of an object in a global table to its number in the part; 0:
 * it is not in the part yet. */
typedef struct sp_dense {
  uint32_t *of;
  size_t capacity;
} sp_dense;

typedef struct sp_pprof_part {
  const sp_mem *mem;
  const sp_name_table *names;
  const sp_frame_table *frames;
  sp_dense name_texts;
  sp_dense functions;
  sp_dense mappings;
  sp_dense locations;
  uint32_t text_count;
  uint32_t function_count;
  uint32_t mapping_count;
  uint32_t location_count;
  sp_name_table own_names; /* texts of this part only, such as span ids */
  sp_dense own_texts;
  sp_buffer pending;
} sp_pprof_part;

/* `names` and `frames` outlive the part. */
void sp_pprof_part_init(sp_pprof_part *part, const sp_mem *mem,
                        const sp_name_table *names,
                        const sp_frame_table *frames);
void sp_pprof_part_dispose(sp_pprof_part *part);

/* Begin a new part. It contains only string_table[0] and, if known, the main
 * binary's mapping, which must be the first one. */
spanprof_status sp_pprof_part_begin(sp_pprof_part *part);

/* Add an object to the part unless the part contains it, and get its number
 * there: a name of the table `names`, a text that only this part contains, a
 * span's or trace's id, or a frame. Ids are ASCII; an id is always added,
 * because the caller passes each id only once. After SPANPROF_ERR_NOMEM, the
 * part must begin again. */
spanprof_status sp_pprof_part_name(sp_pprof_part *part, uint32_t name,
                                   int64_t *out);
spanprof_status sp_pprof_part_text(sp_pprof_part *part, const char *text,
                                   size_t bytes, int64_t *out);
spanprof_status sp_pprof_part_id(sp_pprof_part *part, const char *id,
                                 size_t bytes, int64_t *out);
spanprof_status sp_pprof_part_location(sp_pprof_part *part, uint32_t frame,
                                       uint64_t *out);

/* Write a sample that refers to locations and texts by their numbers in this
 * part. */
spanprof_status sp_pprof_part_sample(sp_pprof_part *part,
                                     const Perftools__Profiles__Sample *sample);

/* Write a message as field `field` of Profile. If `field` is 0, write the
 * fields of the message as fields of Profile. */
spanprof_status sp_pprof_part_message(sp_pprof_part *part, uint32_t field,
                                      const ProtobufCMessage *message);

#endif
