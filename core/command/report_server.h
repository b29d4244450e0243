/* Profiles of a `spanprof serve`, asked for and added to a report. */
#ifndef SP_REPORT_SERVER_H
#define SP_REPORT_SERVER_H

#include "command/report/report.h"
#include "command/shared/command_io.h"

/* What is asked for; texts are borrowed. */
typedef struct sp_report_server {
  const char *address; /* NULL: that of the environment */
  const char *token;   /* likewise */
  const char *query;   /* NULL: all */
  const char *type;    /* NULL: what the query says, else cpu */
  uint64_t from_ns;    /* Unix time; 0: an hour before until_ns */
  uint64_t until_ns;   /* 0: now */
} sp_report_server;

/* Ask, and add what comes. SPANPROF_ERR_*, in a sentence with the address: no
 * answer, a refusal, another program's answer, or nothing found. */
spanprof_status sp_report_server_read(const sp_report_server *server,
                                      const sp_command_io *io,
                                      sp_report *report);

#endif
