/* Starts and controls tests/sink/sink.py, a server for tests, as a child
 * process. */
#ifndef SINK_PROCESS_H
#define SINK_PROCESS_H

#include <arpa/inet.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

typedef struct sink_process {
  pid_t pid;
  int port;
  int control; /* control port; it has no TLS, even if the server has */
  char address[64];
} sink_process;

static char sink_answer_text[65536];

static inline const char *sink_script(void) {
  static char path[4096];
  const char *slash = strrchr(__FILE__, '/');

  snprintf(path, sizeof path, "%.*s/../sink/sink.py", (int)(slash - __FILE__),
           __FILE__);
  return path;
}

/* Start the server. `arguments` follow sink.py on the command line and end with
 * NULL. */
static inline void sink_start(sink_process *sink, const char *scheme,
                              const char *const *arguments) {
  const char *argv[16] = {"python3", sink_script()};
  int ends[2], i;
  FILE *output;

  for (i = 0; arguments && arguments[i]; i++)
    argv[i + 2] = arguments[i];
  CHECK(pipe(ends) == 0);
  sink->pid = fork();
  CHECK(sink->pid >= 0);
  if (sink->pid == 0) {
    /* If a test fails and ends its process, the kernel ends the server. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    execvp("python3", (char *const *)argv);
    _exit(127);
  }
  close(ends[1]);
  output = fdopen(ends[0], "r");
  CHECK(fscanf(output, "port %d control %d", &sink->port, &sink->control) == 2);
  fclose(output);
  snprintf(sink->address, sizeof sink->address, "%s://127.0.0.1:%d", scheme,
           sink->port);
}

static inline void sink_stop(sink_process *sink) {
  kill(sink->pid, SIGKILL);
  CHECK_EQUAL(waitpid(sink->pid, NULL, 0), sink->pid);
}

/* Send a request to the control port, and return the body of the answer. */
static inline const char *sink_request(const sink_process *sink,
                                       const char *request) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)sink->control)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  size_t used = 0;
  char *body;
  ssize_t got;

  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
  CHECK_EQUAL(send(fd, request, strlen(request), MSG_NOSIGNAL),
              (ssize_t)strlen(request));
  while ((got = recv(fd, sink_answer_text + used,
                     sizeof sink_answer_text - 1 - used, 0)) > 0)
    used += (size_t)got;
  close(fd);
  sink_answer_text[used] = '\0';
  body = strstr(sink_answer_text, "\r\n\r\n");
  CHECK(body != NULL);
  return body + 4;
}

/* Set a mode of the server. The arguments format a JSON object (see
 * sink.py). */
static inline void sink_control(const sink_process *sink, const char *format,
                                ...) {
  char json[1024], request[2048];
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(json, sizeof json, format, arguments);
  va_end(arguments);
  snprintf(request, sizeof request,
           "POST /control HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
           "Content-Length: %zu\r\n\r\n%s",
           strlen(json), json);
  CHECK_TEXT(sink_request(sink, request), "{}");
}

/* Return a value of the server's summary as text, such as "profiles" or
 * "last/headers/host". */
static inline const char *sink_text(const sink_process *sink,
                                    const char *path) {
  char request[1024];

  snprintf(
      request, sizeof request,
      "GET /value?path=%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      path);
  return sink_request(sink, request);
}

static inline long long sink_number(const sink_process *sink,
                                    const char *path) {
  return strtoll(sink_text(sink, path), NULL, 10);
}

#endif
