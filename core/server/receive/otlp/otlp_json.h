/* The JSON names of the fields of OTLP's profiles. */
#ifndef SP_OTLP_JSON_H
#define SP_OTLP_JSON_H

#include "server/receive/wire/json_wire.h"

extern const sp_json_field sp_otlp_json_resource[];
extern const sp_json_field sp_otlp_json_scope[];
extern const sp_json_field sp_otlp_json_key_value[];

/* opentelemetry.proto.collector.profiles.v1development */
extern const sp_json_field sp_otlp_json_profiles[];

#endif
