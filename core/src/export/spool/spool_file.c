#include "spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/system/directory.h"
#include "util/system/file.h"
#include "util/system/status.h"
#include "util/text/number.h"

#define SPOOL_FILE_SUFFIX ".profile"

/* The first line of a file. The second line has seven numbers. The labels and
 * the pprof data follow. */
#define SPOOL_FILE_MAGIC "spanprof-spool 1\n"

/* Maximum size of the header: the first line and seven numbers of at most 20
 * digits. */
#define SPOOL_FILE_HEADER_BYTES (sizeof SPOOL_FILE_MAGIC + 7 * 21)

/* Maximum size of a file. A profile has less than 2 MiB before compression, and
 * the labels have at most 30 x 3 KiB. */
#define SPOOL_FILE_MAX_BYTES (8 * 1024 * 1024)

spanprof_status sp_spool_file_write(int directory, const char *path,
                                    const char *name, const sp_encoded *part,
                                    const sp_series *series) {
  char header[SPOOL_FILE_HEADER_BYTES];
  int size = snprintf(
      header, sizeof header,
      SPOOL_FILE_MAGIC "%llu %llu %llu %llu %llu %zu %zu\n",
      (unsigned long long)part->time_ns, (unsigned long long)part->duration_ns,
      (unsigned long long)part->samples, (unsigned long long)part->ticks,
      (unsigned long long)part->cpu_ns, series->size, part->size);
  sp_piece pieces[] = {
      {header, (size_t)size},
      {series->text, series->size},
      {part->bytes, part->size},
  };

  return sp_directory_put(directory, path, name, pieces, SP_COUNT_OF(pieces));
}

/* Read the numbers of the header from *text on. *text is advanced to the
 * labels. */
static bool spool_file_numbers(const char **text, uint64_t numbers[7]) {
  size_t i;

  for (i = 0; i < 7; i++) {
    if (!sp_number_read_canonical(text, &numbers[i]))
      return false;
    if (*(*text)++ != (i < 6 ? ' ' : '\n'))
      return false;
  }
  return true;
}

spanprof_status sp_spool_file_parse(sp_spool_file *out, const sp_mem *mem,
                                    char *content, size_t size) {
  char header[SPOOL_FILE_HEADER_BYTES + 1];
  size_t header_size = sp_min_u64(size, SPOOL_FILE_HEADER_BYTES);
  const char *p = header + sizeof SPOOL_FILE_MAGIC - 1;
  uint64_t numbers[7];
  spanprof_status st = SPANPROF_ERR_FORMAT;

  memset(out, 0, sizeof *out);
  out->mem = mem;
  out->series.mem = mem;
  out->content = content;
  /* The copy ends with NUL, so that no number is read beyond the header. */
  memcpy(header, content, header_size);
  header[header_size] = '\0';
  if (strncmp(header, SPOOL_FILE_MAGIC, sizeof SPOOL_FILE_MAGIC - 1) == 0 &&
      spool_file_numbers(&p, numbers)) {
    header_size = (size_t)(p - header);
    size -= header_size;
    if (numbers[5] <= size && numbers[6] == size - numbers[5])
      st = sp_series_read(&out->series, mem, content + header_size,
                          (size_t)numbers[5]);
  }
  if (st) {
    sp_spool_file_dispose(out);
    return st;
  }
  out->part.bytes = content + header_size + numbers[5];
  out->part.size = (size_t)numbers[6];
  out->part.time_ns = numbers[0];
  out->part.duration_ns = numbers[1];
  out->part.samples = numbers[2];
  out->part.ticks = numbers[3];
  out->part.cpu_ns = numbers[4];
  return SPANPROF_OK;
}

/* Read `size` bytes of content. Returns 0 or an errno; EBADMSG if the file is
 * shorter. */
static int spool_file_load(int fd, char *content, size_t size) {
  while (size) {
    ssize_t got = read(fd, content, size);

    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got < 0 ? errno : EBADMSG;
    content += got;
    size -= (size_t)got;
  }
  return 0;
}

spanprof_status sp_spool_file_read(sp_spool_file *out, const sp_mem *mem,
                                   int directory, const char *name) {
  int fd =
      openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  int error = fd < 0 ? errno : 0;
  char *content = NULL;
  struct stat info;

  memset(out, 0, sizeof *out);
  if (!error && fstat(fd, &info) != 0)
    error = errno;
  if (!error && !sp_file_is_ours(&info, SPOOL_FILE_MAX_BYTES))
    error = EBADMSG;
  if (!error && !(content = sp_mem_new(mem, (size_t)info.st_size)))
    error = ENOMEM;
  if (!error)
    error = spool_file_load(fd, content, (size_t)info.st_size);
  if (fd >= 0)
    close(fd);
  if (!error)
    return sp_spool_file_parse(out, mem, content, (size_t)info.st_size);
  sp_mem_free(mem, content);
  if (error == EBADMSG || error == ENOENT || error == ELOOP)
    return SPANPROF_ERR_FORMAT;
  return error == ENOMEM
             ? SPANPROF_ERR_NOMEM
             : sp_fail_errno(SPANPROF_ERR_IO, error, "%s cannot be read", name);
}

void sp_spool_file_dispose(sp_spool_file *file) {
  if (!file->mem)
    return;
  sp_series_dispose(&file->series);
  sp_mem_free(file->mem, file->content);
  memset(file, 0, sizeof *file);
}

void sp_spool_file_name(uint64_t time_ns, char *out, size_t capacity) {
  snprintf(out, capacity, "%llu" SPOOL_FILE_SUFFIX,
           (unsigned long long)time_ns);
}

bool sp_spool_file_inspect(int directory, const char *name, uint64_t *time_ns,
                           uint64_t *size, bool *temporary) {
  const char *number = name;
  struct stat info;

  *temporary = *name == '.';
  number += *temporary;
  if (!sp_number_read_canonical(&number, time_ns) ||
      strcmp(number,
             *temporary ? SPOOL_FILE_SUFFIX ".tmp" : SPOOL_FILE_SUFFIX) != 0 ||
      fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(info.st_mode))
    return false;
  *size = (uint64_t)info.st_size;
  return true;
}
