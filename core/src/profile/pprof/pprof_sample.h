/* Encodes Sample messages. They are by far the most frequent messages of a
 * profile, and protobuf-c's generic encoder takes four times as long. */
#ifndef SP_PPROF_SAMPLE_H
#define SP_PPROF_SAMPLE_H

#include <profile.pb-c.h>

#include "util/base.h"

/* Equivalents of protobuf_c_message_get_packed_size() and
 * protobuf_c_message_pack(). sp_pprof_sample_put() returns the end of the
 * written bytes. */
size_t sp_pprof_sample_size(const Perftools__Profiles__Sample *sample);
uint8_t *sp_pprof_sample_put(uint8_t *p,
                             const Perftools__Profiles__Sample *sample);

#endif
