#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "guard.h"
#include "http_server.h"
#include "util/system/status.h"

#define LISTEN_WAITING 1024

/* Mode of a Unix socket: the owner and the group may connect, unless the mode
 * of the directory forbids it. */
#define LISTEN_UNIX_MODE 0660

void sp_http_unlisten(int listener, const char *path) {
  if (path)
    unlink(path);
  close(listener);
}

static int listen_error(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int probe, error;

  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  error =
      probe < 0 || connect(probe, (struct sockaddr *)&address, sizeof address)
          ? errno
          : 0;
  if (probe >= 0)
    close(probe);
  return error;
}

/* Listen on a Unix socket. The socket of a killed server is replaced, but no
 * other file is. The mode is set before clients can connect. */
static spanprof_status listen_unix(const char *path, int *out) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct stat old;

  if (strlen(path) >= sizeof address.sun_path)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "the path of a Unix socket has at most %zu bytes: %.200s",
                   sizeof address.sun_path - 1, path);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  if (!lstat(path, &old) && S_ISSOCK(old.st_mode) &&
      listen_error(path) == ECONNREFUSED)
    unlink(path);
  *out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (*out < 0 || bind(*out, (struct sockaddr *)&address, sizeof address)) {
    const int error = errno;

    if (*out >= 0)
      close(*out);
    return sp_fail_errno(SPANPROF_ERR_SYSTEM, error,
                         "cannot listen on unix:%.200s", path);
  }
  if (!chmod(path, LISTEN_UNIX_MODE) && !listen(*out, LISTEN_WAITING))
    return SPANPROF_OK;
  sp_http_unlisten(*out, path);
  return sp_fail(SPANPROF_ERR_SYSTEM, "cannot listen on unix:%.200s", path);
}

spanprof_status sp_http_listen(const char *listen_on, int *out, bool *loopback,
                               uint16_t *port) {
  const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                 .ai_socktype = SOCK_STREAM,
                                 .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  struct sockaddr_storage bound;
  socklen_t bound_size = sizeof bound;
  struct addrinfo *found = NULL;
  char host[256], service[8];
  const int on = 1;
  spanprof_status st;
  int error;

  if (sp_http_unix_path(listen_on)) {
    *loopback = false;
    *port = 0;
    return listen_unix(sp_http_unix_path(listen_on), out);
  }
  st = sp_http_address(listen_on, host, sizeof host, port);
  if (st)
    return st;
  snprintf(service, sizeof service, "%u", *port);
  error = getaddrinfo(host, service, &hints, &found);
  if (error)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "cannot listen on %s: %s", listen_on,
                   gai_strerror(error));
  *loopback = sp_guard_is_loopback(host);
  *out =
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (*out >= 0) {
    setsockopt(*out, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(*out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  if (*out < 0 || bind(*out, found->ai_addr, found->ai_addrlen) ||
      listen(*out, LISTEN_WAITING) ||
      getsockname(*out, (struct sockaddr *)&bound, &bound_size)) {
    error = errno;
    if (*out >= 0)
      close(*out);
    st = sp_fail_errno(SPANPROF_ERR_SYSTEM, error, "cannot listen on %s",
                       listen_on);
  } else {
    *port = ntohs(bound.ss_family == AF_INET6
                      ? ((struct sockaddr_in6 *)&bound)->sin6_port
                      : ((struct sockaddr_in *)&bound)->sin_port);
  }
  freeaddrinfo(found);
  return st;
}

uint64_t sp_http_descriptors(uint64_t needed) {
  struct rlimit limit;

  if (getrlimit(RLIMIT_NOFILE, &limit))
    return needed;
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = sp_min_u64(limit.rlim_max, needed);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  return sp_min_u64(limit.rlim_cur, needed);
}
