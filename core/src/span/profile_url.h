/* Links from a span to its profile, in pyroscope-otel's form. */
#ifndef SP_PROFILE_URL_H
#define SP_PROFILE_URL_H

#include "settings/settings.h"
#include "util/memory/buffer.h"

/* Length of the time range of a link, in seconds: pyroscope-otel 0.1.4 and
 * 0.2.0, lib/pyroscope/otel.rb. */
#define SP_URL_WINDOW_S 3600

typedef struct sp_url_labels {
  sp_pair *pairs;
  size_t count;
} sp_url_labels;

/* The span of a link. Only URL templates use trace_id and name. */
typedef struct sp_url_span {
  const char *profile_id; /* 16 hexadecimal digits */
  const char *trace_id;   /* 32 hexadecimal digits */
  const char *name;
  size_t name_bytes;
} sp_url_span;

/* The application and server of a link. */
typedef struct sp_url_place {
  const char *application_name;
  const char *server_address;
  const sp_url_labels *labels; /* the session's static labels */
  /* Labels that replace static labels of the same name. */
  const sp_url_labels *baseline;
} sp_url_place;

/* Append the query "app.cpu{profile_id="…"}". */
void sp_profile_url_query(sp_buffer *out, const char *application_name,
                          const char *profile_id);

/* Append the link {server}?query=…&from=…&until=… */
void sp_profile_url_span(sp_buffer *out, const sp_url_place *place,
                         const char *profile_id, int64_t now_s);

/* Append the link {server}{path}?query=… of a comparison: on the right the
 * span, on the left the application in the hour before, without the span's id.
 * `path` is "/comparison" or "/comparison-diff". */
void sp_profile_url_compare(sp_buffer *out, const sp_url_place *place,
                            const char *path, const char *profile_id,
                            int64_t now_s);

/* Copy a server address without credentials, query and fragment. Returns
 * SPANPROF_ERR_ARGUMENT with a message that names server_address if it is not a
 * http:// or https:// URL. */
spanprof_status sp_profile_url_server(const char *address, const sp_mem *mem,
                                      char **out);

/* The length of an application name without ".cpu". */
size_t sp_profile_url_app_bytes(const char *application_name);

#endif
