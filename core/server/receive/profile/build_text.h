/* Texts of an upload on their way into the profile that is kept. */
#ifndef SP_BUILD_TEXT_H
#define SP_BUILD_TEXT_H

#include "server/model/received.h"
#include "util/text/view.h"

/* The number of the text. What is kept ends at a NUL: one in the middle becomes
 * "?". A failure stays in the profile. */
uint32_t sp_build_text(sp_received *profile, sp_view text);

#endif
