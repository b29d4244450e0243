/* Attributes of OTLP's spans and resources as a JSON object. */
#ifndef SP_OTLP_ATTRIBUTES_H
#define SP_OTLP_ATTRIBUTES_H

#include "server/receive/wire/refusal.h"

/* Values deeper than this are left out. */
#define SP_OTLP_ATTRIBUTE_DEPTH_MAX 8

/* Append the object of the KeyValue fields `number` of `owner`. `resource`:
 * the text of another object, to stand under "resource"; NULL: none. Refuses as
 * broken. */
spanprof_status sp_otlp_attributes(sp_view owner, uint32_t number,
                                   const char *resource, sp_buffer *out,
                                   sp_refusal *refusal);

/* The text of one attribute; empty where there is none. */
sp_view sp_otlp_attribute_text(sp_view owner, uint32_t number, const char *key);

#endif
