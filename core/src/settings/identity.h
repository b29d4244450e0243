/* The identity of the process in OpenTelemetry: OTEL_SERVICE_NAME and
 * OTEL_RESOURCE_ATTRIBUTES. */
#ifndef SP_IDENTITY_H
#define SP_IDENTITY_H

#include "label_list.h"

typedef struct sp_identity {
  const sp_mem *mem;
  /* Percent-decoded, with unique names. If a name is given twice, the last
   * value is used. */
  sp_pair *attributes;
  size_t count;
  size_t capacity;
} sp_identity;

/* Read the resource attributes. If OTEL_RESOURCE_ATTRIBUTES has any mistake,
 * the whole variable is discarded, with a note, as the specification requires
 * (v1.60.0, https://opentelemetry.io/docs/specs/otel/resource/sdk/, "Specifying
 * resource information via an environment variable"). Returns SPANPROF_OK or
 * SPANPROF_ERR_NOMEM. The caller disposes of `out` in both cases. */
spanprof_status sp_identity_read(sp_identity *out, const sp_mem *mem,
                                 char *const *environment, sp_buffer *notes);
void sp_identity_dispose(sp_identity *identity);

/* Return the value of an attribute, or NULL. */
const char *sp_identity_attribute(const sp_identity *identity,
                                  const char *name);

/* Set given->text and given->variable to the service's name and its variable:
 * OTEL_SERVICE_NAME, otherwise the attribute service.name. Does not change
 * `given` if there is neither. */
void sp_identity_service_name(const sp_identity *identity,
                              char *const *environment, sp_option_value *given);

/* Return the name of a service without a name: "unknown_service:" and the base
 * name of the executable, which for a script is the name of its interpreter
 * (OpenTelemetry semantic conventions v1.38.0, service.name and
 * process.executable.name). Returns NULL if out of memory. */
char *sp_identity_default_name(const sp_mem *mem);

/* Add labels: service_namespace with the value of service.namespace, because
 * Grafana's link from a trace to its profiles needs it, and the attributes that
 * resource_labels names, separated by commas. Invalid label names are cleaned,
 * and attributes that are not set are omitted, both with a note. */
spanprof_status sp_identity_labels(const sp_identity *identity,
                                   const sp_option_value *resource_labels,
                                   sp_label_list *labels, sp_buffer *notes);

#endif
