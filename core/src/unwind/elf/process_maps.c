#include "process_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/text/hex.h"

#define MAPS_DELETED " (deleted)"

/* The parser's state for a line of /proc/self/maps (proc(5)): start-limit
 * permissions offset device inode path. */
typedef struct maps_line {
  uint64_t start;
  uint64_t limit;
  /* Number of the current field: 0: start, 1: limit, 2: permissions, 6:
   * path. */
  unsigned field;
  bool blank; /* the parser is between two fields */
  bool readable;
  bool executable;
  char *path;
  size_t path_capacity;
  size_t path_size; /* full length of the path, even if `path` is truncated */
} maps_line;

static void maps_line_number(maps_line *line, char c) {
  uint64_t *number = line->field == 0 ? &line->start : &line->limit;
  const int digit = sp_hex_digit(c);

  if (digit >= 0)
    *number = *number << 4 | (uint64_t)digit;
  else
    line->field++;
}

static void maps_line_add(maps_line *line, char c) {
  if (line->field < 2) {
    maps_line_number(line, c);
    return;
  }
  if (line->field < 6) {
    if (line->field == 2 && c == 'r')
      line->readable = true;
    if (line->field == 2 && c == 'x')
      line->executable = true;
    if (line->blank && c != ' ')
      line->field++;
    line->blank = c == ' ';
    if (line->field < 6)
      return;
  }
  if (line->path_size + 1 < line->path_capacity)
    line->path[line->path_size] = c;
  line->path_size++;
}

/* Terminate the path, and check for the suffix that the kernel appends if the
 * file was deleted. */
static bool maps_line_end(maps_line *line) {
  const size_t cut = sizeof MAPS_DELETED - 1;
  size_t size = line->path_size;
  bool deleted = false;

  if (size >= line->path_capacity)
    size = line->path_capacity - 1;
  line->path[size] = '\0';
  if (size >= cut && strcmp(line->path + size - cut, MAPS_DELETED) == 0) {
    line->path[size - cut] = '\0';
    deleted = true;
  }
  return deleted;
}

static bool maps_line_visit(maps_line *line, sp_process_maps_fn visit,
                            void *data) {
  const sp_process_mapping mapping = {.start = line->start,
                                      .limit = line->limit,
                                      .readable = line->readable,
                                      .executable = line->executable,
                                      .deleted = maps_line_end(line),
                                      .path = line->path};

  return visit(data, &mapping);
}

bool sp_process_maps_each(char *path, size_t size, sp_process_maps_fn visit,
                          void *data) {
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  const maps_line empty = {.path = path, .path_capacity = size};
  maps_line line = empty;
  bool enough = false;
  char bytes[4096];
  ssize_t n, i;

  if (fd < 0)
    return false;
  while (!enough) {
    n = read(fd, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    for (i = 0; i < n && !enough; i++) {
      if (bytes[i] == '\n') {
        enough = maps_line_visit(&line, visit, data);
        line = empty;
      } else {
        maps_line_add(&line, bytes[i]);
      }
    }
  }
  close(fd);
  return enough;
}

typedef struct maps_file {
  uint64_t address;
  bool deleted;
} maps_file;

static bool maps_file_is(void *data, const sp_process_mapping *mapping) {
  maps_file *file = data;

  file->deleted = mapping->deleted;
  return file->address >= mapping->start && file->address < mapping->limit;
}

bool sp_process_maps_file(uint64_t address, char *path, size_t size,
                          bool *deleted) {
  maps_file file = {.address = address};

  path[0] = '\0';
  if (!sp_process_maps_each(path, size, maps_file_is, &file)) {
    path[0] = '\0';
    *deleted = true;
    return false;
  }
  *deleted = file.deleted;
  return true;
}
