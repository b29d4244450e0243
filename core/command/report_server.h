/* Queries profiles from a server that `spanprof serve` started, and adds them
 * to a report. */
#ifndef SP_REPORT_SERVER_H
#define SP_REPORT_SERVER_H

#include "command/report/report.h"
#include "command/shared/command_io.h"

/* A query. The caller keeps the texts. */
typedef struct sp_report_server {
  const char *address; /* NULL: PYROSCOPE_SERVER_ADDRESS */
  const char *token;   /* NULL: PYROSCOPE_AUTH_TOKEN */
  const char *query;   /* NULL: all series */
  const char *type;  /* NULL: the type in `query`, or cpu if `query` has none */
  uint64_t from_ns;  /* Unix time; 0: an hour before until_ns */
  uint64_t until_ns; /* Unix time; 0: now */
} sp_report_server;

/* Send the query, and add the profile in the answer to the report. Fails if the
 * server does not answer or refuses the query, if another program answers, or
 * if nothing was found. A failure sets an error message with the server's
 * address. */
spanprof_status sp_report_server_read(const sp_report_server *server,
                                      const sp_command_io *io,
                                      sp_report *report);

#endif
