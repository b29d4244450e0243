/* Copies texts of an upload into the received profile. */
#ifndef SP_BUILD_TEXT_H
#define SP_BUILD_TEXT_H

#include "server/model/received.h"
#include "util/text/view.h"

/* Add a text and return its number. A NUL in the text becomes "?", because
 * stored texts end at a NUL. An error is recorded in the profile. */
uint32_t sp_build_text(sp_received *profile, sp_view text);

#endif
