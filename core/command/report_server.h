/* Queries profiles from a server that `spanprof serve` started, and adds them
 * to a report. */
#ifndef SP_REPORT_SERVER_H
#define SP_REPORT_SERVER_H

#include "command/report/report.h"
#include "command/shared/command_io.h"

/* A query. Texts are borrowed. */
typedef struct sp_report_server {
  const char *address; /* NULL: that of the environment */
  const char *token;   /* NULL: that of the environment */
  const char *query;   /* NULL: all */
  const char *type;  /* NULL: the type in `query`, or cpu if `query` has none */
  uint64_t from_ns;  /* Unix time; 0: an hour before until_ns */
  uint64_t until_ns; /* 0: now */
} sp_report_server;

/* Send the query, and add the answer. A failure has a sentence with the
 * server's address. Failures are: no answer, a refusal, an answer of another
 * program, nothing found. */
spanprof_status sp_report_server_read(const sp_report_server *server,
                                      const sp_command_io *io,
                                      sp_report *report);

#endif
