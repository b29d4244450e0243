/* The identity of the process in OpenTelemetry: OTEL_SERVICE_NAME and
 * OTEL_RESOURCE_ATTRIBUTES. */
#ifndef SP_IDENTITY_H
#define SP_IDENTITY_H

#include "label_list.h"

typedef struct sp_identity {
  const sp_mem *mem;
  sp_pair
      *attributes; /* percent-decoded and unique; later ones take precedence */
  size_t count;
  size_t capacity;
} sp_identity;

/* Read the resource attributes. A value that does not parse is discarded as a
 * whole, with a note, as the specification requires (v1.60.0,
 * https://opentelemetry.io/docs/specs/otel/resource/sdk/, "Specifying resource
 * information via an environment variable"). SPANPROF_ERR_NOMEM: dispose of
 * `out` in this case, too. */
spanprof_status sp_identity_read(sp_identity *out, const sp_mem *mem,
                                 char *const *environment, sp_buffer *notes);
void sp_identity_dispose(sp_identity *identity);

/* Return the value of an attribute, or NULL. */
const char *sp_identity_attribute(const sp_identity *identity,
                                  const char *name);

/* Set given->text and given->variable to the service's name: OTEL_SERVICE_NAME,
 * otherwise service.name. Does not change them if there is none. */
void sp_identity_service_name(const sp_identity *identity,
                              char *const *environment, sp_option_value *given);

/* Return the name of a service without a name: "unknown_service:" and the base
 * name of the executable, which for a script is its interpreter (OpenTelemetry
 * semantic conventions v1.38.0, service.name and process.executable.name).
 * NULL: no memory. */
char *sp_identity_default_name(const sp_mem *mem);

/* Add service.namespace as `service_namespace`, which Grafana's link from a
 * trace to its profiles needs, and the attributes that resource_labels lists,
 * separated by commas. Invalid label names are cleaned, and unset attributes
 * are omitted, both with a note. */
spanprof_status sp_identity_labels(const sp_identity *identity,
                                   const sp_option_value *resource_labels,
                                   sp_label_list *labels, sp_buffer *notes);

#endif
