/* A Sample message to bytes. There are far more of them than of anything else
 * in a profile; protobuf-c's way over its descriptors takes four times as
 * long. */
#ifndef SP_PPROF_SAMPLE_H
#define SP_PPROF_SAMPLE_H

#include <profile.pb-c.h>

#include "util/base.h"

/* What protobuf_c_message_get_packed_size() says, and
 * protobuf_c_message_pack() writes; returns what stands behind the bytes. */
size_t sp_pprof_sample_size(const Perftools__Profiles__Sample *sample);
uint8_t *sp_pprof_sample_put(uint8_t *p,
                             const Perftools__Profiles__Sample *sample);

#endif
