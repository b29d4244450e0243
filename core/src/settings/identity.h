/* Who the process is to OpenTelemetry: OTEL_SERVICE_NAME and
 * OTEL_RESOURCE_ATTRIBUTES. */
#ifndef SP_IDENTITY_H
#define SP_IDENTITY_H

#include "label_list.h"

typedef struct sp_identity {
  const sp_mem *mem;
  sp_pair *attributes; /* percent-decoded, unique, later ones win */
  size_t count;
  size_t capacity;
} sp_identity;

/* Read the resource attributes. A value that does not parse is discarded as a
 * whole, with a note, as the specification asks (v1.60.0,
 * https://opentelemetry.io/docs/specs/otel/resource/sdk/, "Specifying resource
 * information via an environment variable"). SPANPROF_ERR_NOMEM: dispose is
 * needed all the same. */
spanprof_status sp_identity_read(sp_identity *out, const sp_mem *mem,
                                 char *const *environment, sp_buffer *notes);
void sp_identity_dispose(sp_identity *identity);

/* An attribute's value, or NULL. */
const char *sp_identity_attribute(const sp_identity *identity,
                                  const char *name);

/* Where the service's name stands: OTEL_SERVICE_NAME, else service.name. Fills
 * in given->text and given->variable; leaves them where there is none. */
void sp_identity_service_name(const sp_identity *identity,
                              char *const *environment, sp_given *given);

/* What a service is called that nobody named: "unknown_service:" and the base
 * name of the executable (OpenTelemetry semantic conventions v1.38.0,
 * service.name and process.executable.name; of a script that is its
 * interpreter). NULL: no memory. */
char *sp_identity_default_name(const sp_mem *mem);

/* Add service.namespace as `service_namespace` (Grafana's link from a trace to
 * its profiles asks for it), and the attributes that resource_labels, names
 * separated by commas, asks for; names that are no label names are cleaned. An
 * attribute that is not set is left out. Both with a note. */
spanprof_status sp_identity_labels(const sp_identity *identity,
                                   const sp_given *resource_labels,
                                   sp_label_list *labels, sp_buffer *notes);

#endif
