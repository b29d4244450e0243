/* Converts attributes of OTLP's spans and resources to a JSON object. */
#ifndef SP_OTLP_ATTRIBUTES_H
#define SP_OTLP_ATTRIBUTES_H

#include "server/receive/wire/refusal.h"

/* Largest depth of a value; deeper values become null. */
#define SP_OTLP_ATTRIBUTE_DEPTH_MAX 8

/* Append a JSON object with the attributes of the message `owner`, which are
 * its KeyValue fields with the number `number`. `resource` is the JSON text of
 * the value for an additional key "resource", or NULL. Malformed messages are
 * refused. */
spanprof_status sp_otlp_attributes(sp_view owner, uint32_t number,
                                   const char *resource, sp_buffer *out,
                                   sp_refusal *refusal);

/* Returns the text of an attribute, or an empty text. */
sp_view sp_otlp_attribute_text(sp_view owner, uint32_t number, const char *key);

#endif
