#include "process_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A line's start, which holds the addresses, and its end, which says whether
 * the file is gone, are kept; a path of any length passes in between. */
#define MAPS_TAIL 10 /* strlen(" (deleted)") */

typedef struct maps_line {
  uint64_t start;
  uint64_t limit;
  unsigned field; /* 0: start, 1: limit, 2: the rest */
  char tail[MAPS_TAIL];
  size_t tail_size;
} maps_line;

static void maps_line_add(maps_line *line, char c) {
  uint64_t *number = line->field == 0 ? &line->start : &line->limit;

  if (line->field < 2) {
    if (c >= '0' && c <= '9')
      *number = *number << 4 | (uint64_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      *number = *number << 4 | (uint64_t)(c - 'a' + 10);
    else
      line->field++;
    return;
  }
  if (line->tail_size == MAPS_TAIL)
    memmove(line->tail, line->tail + 1, --line->tail_size);
  line->tail[line->tail_size++] = c;
}

static bool maps_line_deleted(const maps_line *line) {
  return line->tail_size == MAPS_TAIL &&
         memcmp(line->tail, " (deleted)", MAPS_TAIL) == 0;
}

bool sp_process_maps_deleted(uint64_t address) {
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  bool deleted = true, found = false;
  maps_line line = {0};
  char bytes[4096];
  ssize_t n, i;

  if (fd < 0)
    return true;
  while (!found) {
    n = read(fd, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    for (i = 0; i < n && !found; i++) {
      if (bytes[i] != '\n') {
        maps_line_add(&line, bytes[i]);
        continue;
      }
      found = address >= line.start && address < line.limit;
      if (found)
        deleted = maps_line_deleted(&line);
      line = (maps_line){0};
    }
  }
  close(fd);
  return deleted;
}
