/* One self-contained pprof message being written: what its samples refer to
 * (texts, functions, mappings, locations) is numbered densely from 1 and
 * written once, before the first use. Bytes gather in `pending` until the
 * caller takes them, so that their number is known before they count. */
#ifndef SP_PPROF_PART_H
#define SP_PPROF_PART_H

#include <profile.pb-c.h>

#include "profile/tables/frame_table.h"
#include "util/memory/buffer.h"

/* Numbers in the part of things that are numbered elsewhere; 0: none yet. */
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
  sp_name_table own_names; /* texts of this part alone, such as span ids */
  sp_dense own_texts;
  sp_buffer pending;
} sp_pprof_part;

/* `names` and `frames` outlive the part. */
void sp_pprof_part_init(sp_pprof_part *part, const sp_mem *mem,
                        const sp_name_table *names,
                        const sp_frame_table *frames);
void sp_pprof_part_dispose(sp_pprof_part *part);

/* Begin anew: nothing has been written but string_table[0] and, where it is
 * known, the main binary's mapping, which has to be the first. */
spanprof_status sp_pprof_part_begin(sp_pprof_part *part);

/* The part's number of an interned name, of a text of its own, of a frame. All:
 * SPANPROF_ERR_NOMEM, and the part has to begin anew. Of an id, which is ASCII
 * and which the caller asks for once: it is not looked up. */
spanprof_status sp_pprof_part_name(sp_pprof_part *part, uint32_t name,
                                   int64_t *out);
spanprof_status sp_pprof_part_text(sp_pprof_part *part, const char *text,
                                   size_t bytes, int64_t *out);
spanprof_status sp_pprof_part_id(sp_pprof_part *part, const char *id,
                                 size_t bytes, int64_t *out);
spanprof_status sp_pprof_part_location(sp_pprof_part *part, uint32_t frame,
                                       uint64_t *out);

/* Write a sample of this part's numbers. */
spanprof_status sp_pprof_part_sample(sp_pprof_part *part,
                                     const Perftools__Profiles__Sample *sample);

/* Write a message as field `field` of Profile; with field 0 its own fields, as
 * if they were Profile's. */
spanprof_status sp_pprof_part_message(sp_pprof_part *part, uint32_t field,
                                      const ProtobufCMessage *message);

#endif
