#include "option_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/memory/buffer.h"
#include "util/system/directory.h"
#include "util/system/file.h"

static spanprof_status option_path_refuse(const sp_option_value *given,
                                          const char *what, int error) {
  char shown[SP_OPTION_SHOWN_BYTES];

  sp_option_show(given->text, strlen(given->text), shown);
  return sp_option_refuse(given, "%s: %s: %s", what, shown, strerror(error));
}

spanprof_status sp_option_file_check(const sp_option_value *given) {
  int error = sp_file_readable(given->text);

  return error ? option_path_refuse(given, "cannot be read", error)
               : SPANPROF_OK;
}

/* Try to create a file in the directory, because access() does not report a
 * full quota, or that root may not write to a file system. Returns 0 or an
 * errno. */
static int option_path_try_file(const char *directory, const sp_mem *mem,
                                bool *no_memory) {
  sp_buffer path;
  int file, error = 0;

  sp_buffer_init(&path, mem);
  sp_buffer_format(&path, "%s/.spanprof-XXXXXX", directory);
  *no_memory = sp_buffer_status(&path);
  if (!*no_memory) {
    file = mkostemp(path.data, O_CLOEXEC);
    error = file < 0 ? errno : 0;
    if (file >= 0) {
      close(file);
      unlink(path.data);
    }
  }
  sp_buffer_dispose(&path);
  return error;
}

/* Check that no other user can write to the directory. directory.h gives the
 * reason. */
static spanprof_status option_path_check_owner(const sp_option_value *given) {
  char shown[SP_OPTION_SHOWN_BYTES], why[SP_DIRECTORY_WHY_BYTES];
  struct stat about;

  if (stat(given->text, &about) != 0)
    return option_path_refuse(given, "cannot be used", errno);
  if (!S_ISDIR(about.st_mode) || sp_directory_private(&about, why))
    return SPANPROF_OK;
  sp_option_show(given->text, strlen(given->text), shown);
  return sp_option_refuse(
      given, "%s: %s; use a directory of its own, such as %s/spanprof", why,
      shown, shown);
}

spanprof_status sp_option_directory_check(const sp_option_value *given,
                                          const sp_mem *mem) {
  spanprof_status st;
  bool no_memory;
  int error;

  if (mkdir(given->text, 0700) != 0 && errno != EEXIST)
    return option_path_refuse(given, "cannot be created", errno);
  st = option_path_check_owner(given);
  if (st)
    return st;
  error = option_path_try_file(given->text, mem, &no_memory);
  if (no_memory)
    return sp_option_no_memory();
  if (error)
    return option_path_refuse(given, "cannot be written", error);
  return SPANPROF_OK;
}
