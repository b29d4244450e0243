#include "report_files.h"

#include <string.h>

#include "command/shared/progress.h"
#include "formats/foreign_file.h"
#include "profile/pprof/gunzip.h"
#include "util/system/status.h"

static void files_complain(sp_report_files *files, const char *how,
                           const char *path) {
  char why[300];

  snprintf(why, sizeof why, "%s%s", how, spanprof_last_error());
  sp_command_error(files->io, files->word, path, why);
}

/* Read a file and decompress it. */
static spanprof_status files_unpacked(const sp_mem *mem, const char *path,
                                      sp_buffer *out) {
  char *bytes;
  size_t size;
  spanprof_status st = sp_profile_file_read(path, mem, &bytes, &size);

  if (!st && sp_gunzip_is(bytes, size))
    st = sp_gunzip(out, bytes, size, SP_PPROF_UNPACKED_MAX);
  else if (!st)
    sp_buffer_append(out, bytes, size);
  sp_mem_free(mem, bytes);
  return !st && out->failed ? sp_fail(SPANPROF_ERR_NOMEM, "out of memory") : st;
}

/* Remember the content of a file. Returns SPANPROF_ERR_UNSUPPORTED if a file of
 * another name had the same content. */
static spanprof_status files_note_content(sp_report_files *files,
                                          const sp_buffer *bytes) {
  const sp_mem *mem = files->io->mem;
  const uint64_t hash = sp_hash_bytes(bytes->data, bytes->size);
  uint32_t at, i;

  for (i = sp_index_first(&files->content_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&files->content_index, hash, &at))
    if (files->contents[i].device == hash &&
        files->contents[i].inode == bytes->size)
      return sp_fail(SPANPROF_ERR_UNSUPPORTED,
                     "has the same content as an earlier profile");
  if (sp_mem_reserve(mem, (void **)&files->contents, &files->content_capacity,
                     files->content_count + 1, sizeof *files->contents) ||
      sp_index_reserve(&files->content_index, mem))
    return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  sp_index_add(&files->content_index, hash, (uint32_t)files->content_count);
  files->contents[files->content_count++] =
      (sp_profile_identity){hash, bytes->size};
  return SPANPROF_OK;
}

/* If `profile` is the first CPU profile and no type was requested, discard the
 * profiles that were added before it. */
static spanprof_status files_prefer_cpu(sp_report_files *files,
                                        const sp_profile_list *list,
                                        const sp_pprof *profile) {
  const sp_report *report = files->report;
  size_t i;

  if (report->options->type || !report->type || report->type_fixed ||
      strcmp(report->type, "cpu") == 0 ||
      sp_pprof_type_find(profile, "cpu") == SP_PPROF_NONE)
    return SPANPROF_OK;
  for (i = 0; i < files->added_count; i++)
    sp_command_error(
        files->io, files->word, list->paths[files->added[i]],
        "skipped: has no values of type cpu, but another file has");
  files->added_count = 0;
  return sp_report_restart(files->report);
}

/* Remember the file with index `i` if it is to be discarded when a CPU profile
 * follows. */
static spanprof_status files_note_added(sp_report_files *files, size_t i) {
  if (files->report->options->type || strcmp(files->report->type, "cpu") == 0)
    return SPANPROF_OK;
  if (sp_mem_reserve(files->io->mem, (void **)&files->added,
                     &files->added_capacity, files->added_count + 1,
                     sizeof *files->added))
    return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  files->added[files->added_count++] = i;
  return SPANPROF_OK;
}

static spanprof_status files_add(sp_report_files *files,
                                 const sp_profile_list *list, size_t i,
                                 const sp_pprof *profile) {
  sp_profile_origin origin;
  spanprof_status st;

  sp_profile_origin_read(&origin, profile, list->paths[i]);
  if (!sp_profile_filter_matches(files->filter, &origin)) {
    files->filtered_out++;
    return SPANPROF_OK;
  }
  st = files_prefer_cpu(files, list, profile);
  if (!st)
    st = sp_report_add(files->report, profile, &origin);
  return st ? st : files_note_added(files, i);
}

static void files_read_one(sp_report_files *files, const sp_profile_list *list,
                           size_t i, sp_progress *progress) {
  const sp_mem *mem = files->io->mem;
  sp_foreign_file file = {.profile = NULL};
  spanprof_status st;
  sp_buffer bytes;

  sp_buffer_init(&bytes, mem);
  st = files_unpacked(mem, list->paths[i], &bytes);
  if (!st)
    st = sp_foreign_file_read(&file, mem, list->paths[i], bytes.data,
                              bytes.size);
  if (!st)
    st = files_note_content(files, &bytes);
  sp_buffer_dispose(&bytes);
  if (!st)
    st = files_add(files, list, i, file.profile);
  sp_pprof_free(file.profile);
  if (!st)
    return;
  sp_progress_clear(progress);
  files_complain(files, st == SPANPROF_ERR_UNSUPPORTED ? "skipped: " : "",
                 list->paths[i]);
  files->failed = files->failed || st != SPANPROF_ERR_UNSUPPORTED;
}

void sp_report_files_read(sp_report_files *files, const sp_profile_list *list) {
  sp_progress progress;
  size_t i;

  sp_progress_init(&progress, files->io->err);
  for (i = 0; i < list->count; i++) {
    sp_progress_step(&progress, i, list->count);
    files_read_one(files, list, i, &progress);
  }
  sp_progress_clear(&progress);
  sp_mem_free(files->io->mem, files->contents);
  sp_index_dispose(&files->content_index, files->io->mem);
  sp_mem_free(files->io->mem, files->added);
}
