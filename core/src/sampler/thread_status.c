#include "thread_status.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sampler/handler/task_file.h"

typedef enum status_found { STATUS_MORE, STATUS_GONE, STATUS_ALL } status_found;

static status_found status_line(sp_thread_status *out, const char *line) {
  unsigned long long mask;

  if (strncmp(line, "State:\tZ", 8) == 0)
    return STATUS_GONE;
  if (strncmp(line, "State:\tR", 8) == 0)
    out->runs = true;
  if (sscanf(line, "SigBlk: %llx", &mask) == 1) {
    out->blocked = mask;
    return STATUS_ALL;
  }
  sscanf(line, "Name: %31[^\n]", out->name);
  return STATUS_MORE;
}

/* The file is read in pieces, because the line with the user's groups, which
 * precedes the mask, may have any length. */
bool sp_thread_status_read(int tid, sp_thread_status *out) {
  const int file = sp_task_file_open(tid, "status");
  status_found found = STATUS_MORE;
  /* `line` contains only the start of a longer line. */
  char bytes[1024], line[64];
  size_t size = 0;
  ssize_t n, i;

  out->name[0] = '\0';
  out->runs = false;
  if (file < 0)
    return false;
  while (found == STATUS_MORE && (n = read(file, bytes, sizeof bytes)) > 0)
    for (i = 0; i < n && found == STATUS_MORE; i++) {
      if (bytes[i] == '\n') {
        line[size] = '\0';
        size = 0;
        found = status_line(out, line);
      } else if (size + 1 < sizeof line) {
        line[size++] = bytes[i];
      }
    }
  close(file);
  return found == STATUS_ALL;
}

/* Reads the start time, which is field 22 of the file stat (proc(5)). The name,
 * which is field 2, may contain spaces and parentheses. */
uint64_t sp_thread_began(int tid) {
  char text[1024];
  unsigned long long ticks = 0;
  const char *at;
  int field;

  if (sp_task_file_read(tid, "stat", text, sizeof text) == 0)
    return 0;
  at = strrchr(text, ')');
  for (field = 2; at && field < 22; field++)
    at = strchr(at + 1, ' ');
  return at && sscanf(at, "%llu", &ticks) == 1 ? ticks : 0;
}

uint64_t sp_thread_clock(void) {
  const uint64_t tick_ns = SP_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
  struct timespec now;

  clock_gettime(CLOCK_BOOTTIME, &now);
  return ((uint64_t)now.tv_sec * SP_NS_PER_S + (uint64_t)now.tv_nsec) / tick_ns;
}
