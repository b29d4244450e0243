#include "delivery_log.h"

void sp_delivery_log_failure(const sp_delivery *delivery,
                             const sp_http_answer *answer,
                             const sp_retry *retry) {
  static const char *const ends[] = {
      [SP_RETRY_AGAIN] = "it will be sent again",
      [SP_RETRY_REFUSED] = "the profile is dropped",
      [SP_RETRY_EXHAUSTED] = "the profile is dropped after several tries",
      [SP_RETRY_EXPIRED] = "the profile is dropped, too old by now",
  };
  const char *address = delivery->settings->server_address;
  const char *end = ends[retry->verdict];
  sp_log_kind kind = retry->is_limited ? SP_LOG_UPLOAD_LIMITED
                     : retry->verdict == SP_RETRY_REFUSED || retry->is_mendable
                         ? SP_LOG_UPLOAD_REFUSED
                         : SP_LOG_UPLOAD_FAILED;

  if (retry->is_mendable && retry->verdict == SP_RETRY_AGAIN)
    end = "profiles are kept, and sent again about once a minute";
  if (answer->foreign)
    sp_log_warn(
        delivery->log, kind,
        "%s answered %ld, but is no Pyroscope (a login page, or another "
        "program): the server address must be right; %s",
        address, answer->status, end);
  else if (answer->status >= 300 && answer->status < 400)
    sp_log_warn(delivery->log, kind,
                "%s answered %ld, a redirect, which is not followed: the "
                "server address must be the final one; %s",
                address, answer->status, end);
  else if (answer->status)
    sp_log_warn(delivery->log, kind, "%s answered %ld%s%s; %s", address,
                answer->status, answer->message[0] ? ": " : "", answer->message,
                end);
  else
    sp_log_warn(delivery->log, kind, "no upload to %s: %s; %s", address,
                answer->message, end);
}

void sp_delivery_log_spool(sp_delivery *delivery, const char *what,
                           spanprof_status st) {
  const char *why = st == SPANPROF_ERR_IO || st == SPANPROF_ERR_SYSTEM
                        ? spanprof_last_error()
                        : spanprof_status_text(st);

  if (st != SPANPROF_ERR_SYSTEM) {
    sp_log_warn(delivery->log, SP_LOG_SPOOL, "%s: %s", what, why);
    return;
  }
  if (!delivery->lockless)
    sp_log_line(delivery->log, SPANPROF_LOG_WARN,
                "the spool is off, and what cannot be sent is dropped: %s",
                why);
  delivery->lockless = true;
}
