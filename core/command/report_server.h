/* Queries profiles of a `spanprof serve` and adds them to a report. */
#ifndef SP_REPORT_SERVER_H
#define SP_REPORT_SERVER_H

#include "command/report/report.h"
#include "command/shared/command_io.h"

/* The query; texts are borrowed. */
typedef struct sp_report_server {
  const char *address; /* NULL: that of the environment */
  const char *token;   /* NULL: that of the environment */
  const char *query;   /* NULL: all */
  const char *type;    /* NULL: the query's, or else cpu */
  uint64_t from_ns;    /* Unix time; 0: an hour before until_ns */
  uint64_t until_ns;   /* 0: now */
} sp_report_server;

/* Send the query, and add the answer. A failure has a sentence with the
 * address: no answer, a refusal, the answer of another program, or nothing
 * found. */
spanprof_status sp_report_server_read(const sp_report_server *server,
                                      const sp_command_io *io,
                                      sp_report *report);

#endif
