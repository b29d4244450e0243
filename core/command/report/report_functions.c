#include "report_functions.h"

#include <string.h>

#include "profile/tables/module_name.h"
#include "util/system/status.h"

/* Returns memory for `count` indexes, which are all SP_INDEX_NONE, or NULL. */
static uint32_t *report_file_numbers(const sp_mem *mem, size_t count) {
  uint32_t *numbers = sp_mem_new(mem, count * sizeof *numbers);

  if (numbers)
    memset(numbers, 0xff, count * sizeof *numbers);
  return numbers;
}

spanprof_status sp_report_file_init(sp_report_file *file, const sp_mem *mem,
                                    const sp_pprof *profile) {
  file->profile = profile;
  file->of_function = report_file_numbers(mem, profile->function_count);
  file->of_location = report_file_numbers(mem, profile->location_count);
  if (file->of_function && file->of_location)
    return SPANPROF_OK;
  sp_report_file_dispose(file, mem);
  return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
}

void sp_report_file_dispose(sp_report_file *file, const sp_mem *mem) {
  sp_mem_free(mem, file->of_function);
  sp_mem_free(mem, file->of_location);
  file->of_function = file->of_location = NULL;
}

/* Returns the bits of sp_report_function.found for a new function. */
static unsigned report_found(const sp_report *report, const char *name,
                             const char *file) {
  const sp_report_options *options = report->options;
  const sp_report_filter *filter = &options->filter;
  unsigned found = 0;

  if (sp_pattern_finds(&filter->focus, name) ||
      sp_pattern_finds(&filter->focus, file))
    found |= SP_REPORT_FOCUSED;
  if (sp_pattern_finds(&filter->ignore, name) ||
      sp_pattern_finds(&filter->ignore, file))
    found |= SP_REPORT_IGNORED;
  if (sp_pattern_finds(&options->peek, name))
    found |= SP_REPORT_PEEKED;
  return found;
}

/* Get the kind of a file, whose name is `number` in report->names. */
static spanprof_status report_file_kind(sp_report *report, uint32_t number,
                                        const char *path, sp_code_kind *out) {
  spanprof_status st =
      sp_mem_reserve(report->mem, (void **)&report->file_kinds,
                     &report->file_kind_capacity, (size_t)number + 1, 1);

  if (st)
    return sp_fail(st, "out of memory");
  while (report->file_kind_count <= number)
    report->file_kinds[report->file_kind_count++] = 0;
  if (report->file_kinds[number] == 0) {
    *out = sp_code_place_of(&report->code_rules, path).kind;
    report->file_kinds[number] = (uint8_t)(1 + *out);
    if (*out == SP_CODE_APPLICATION)
      sp_code_folder_add(&report->code_folder, path);
  }
  *out = (sp_code_kind)(report->file_kinds[number] - 1);
  return SPANPROF_OK;
}

static spanprof_status report_function_new(sp_report *report, uint64_t hash,
                                           const sp_report_function *function,
                                           uint32_t *out) {
  spanprof_status st = sp_mem_reserve(
      report->mem, (void **)&report->functions, &report->function_capacity,
      report->function_count + 1, sizeof *report->functions);

  if (!st)
    st = sp_index_reserve(&report->function_index, report->mem);
  if (st)
    return sp_fail(
        st, "too many functions: limit them with a filter such as --focus");
  *out = (uint32_t)report->function_count;
  report->functions[report->function_count++] = *function;
  sp_index_add(&report->function_index, hash, *out);
  return SPANPROF_OK;
}

/* Get the index of a function. Adds the function if it is new. */
static spanprof_status report_function(sp_report *report, const char *text,
                                       const char *path, int64_t line,
                                       uint32_t *out) {
  sp_report_function function = {.line = line};
  uint32_t at, i;
  uint64_t hash;
  spanprof_status st =
      sp_name_table_intern(&report->names, text, strlen(text), &function.name);

  if (!st)
    st = sp_name_table_intern(&report->names, path, strlen(path),
                              &function.file);
  if (st)
    return sp_fail(st, "too many names of functions and files: limit them with "
                       "a filter such as --focus");
  hash = sp_hash_mix(sp_hash_mix(function.name, SP_HASH_SEED), function.file);
  hash = sp_hash_mix(hash, (uint64_t)line);
  for (i = sp_index_first(&report->function_index, hash, &at);
       i != SP_INDEX_NONE;
       i = sp_index_next(&report->function_index, hash, &at)) {
    const sp_report_function *known = &report->functions[i];

    if (known->name == function.name && known->file == function.file &&
        known->line == line) {
      *out = i;
      return SPANPROF_OK;
    }
  }
  function.found = report_found(report, text, path);
  st = report_file_kind(report, function.file, path, &function.kind);
  return st ? st : report_function_new(report, hash, &function, out);
}

/* Returns the module of a location: the last part of the path of its mapping,
 * or "". */
static const char *report_module(const sp_pprof *profile, uint32_t location) {
  const uint32_t mapping = profile->locations[location].mapping;
  const char *path =
      mapping == SP_PPROF_NONE ? "" : profile->mappings[mapping].file;
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

/* Get the index of the function that stands for all code of a module without
 * function names. */
static spanprof_status report_unnamed(sp_report *report, const char *module,
                                      uint32_t *out) {
  char name[SP_MODULE_NAME_BYTES];

  sp_module_name(module, strlen(module), name);
  return report_function(report, name, "", 0, out);
}

/* Returns the element of `file` that caches the index of a frame's function in
 * the report, or NULL if the index is not cached. */
static uint32_t *report_known(const sp_report *report,
                              const sp_report_file *file, uint32_t location,
                              const sp_pprof_line *line) {
  if (!line)
    return &file->of_location[location];
  if (!report->options->lines)
    return &file->of_function[line->function];
  return file->profile->locations[location].line_count == 1
             ? &file->of_location[location]
             : NULL;
}

/* Get the report's index of the function of `line`. If `line` is NULL, the
 * location has no lines, and the function stands for all code of its module
 * without function names. */
static spanprof_status report_frame(sp_report *report, sp_report_file *file,
                                    uint32_t location,
                                    const sp_pprof_line *line, uint32_t *out) {
  const sp_pprof *profile = file->profile;
  const sp_pprof_function *function =
      line ? &profile->functions[line->function] : NULL;
  uint32_t *known = report_known(report, file, location, line);
  const char *module, *name = "";
  spanprof_status st;

  *out = known ? *known : SP_INDEX_NONE;
  if (*out != SP_INDEX_NONE)
    return SPANPROF_OK;
  module = report_module(profile, location);
  if (function)
    name = *function->name ? function->name : function->system_name;
  st = *name ? report_function(report, name,
                               *function->file ? function->file : module,
                               report->options->lines ? line->line : 0, out)
             : report_unnamed(report, module, out);
  if (!st && known)
    *known = *out;
  return st;
}

static spanprof_status report_push(sp_report *report, uint32_t function,
                                   size_t *depth) {
  if (sp_mem_reserve(report->mem, (void **)&report->stack,
                     &report->stack_capacity, *depth + 1,
                     sizeof *report->stack))
    return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  report->stack[(*depth)++] = function;
  return SPANPROF_OK;
}

static spanprof_status report_push_location(sp_report *report,
                                            sp_report_file *file, uint32_t at,
                                            size_t *depth) {
  const sp_pprof_location *location = &file->profile->locations[at];
  spanprof_status st = SPANPROF_OK;
  uint32_t i, function;

  for (i = 0; i < sp_max_u64(location->line_count, 1) && !st; i++) {
    const sp_pprof_line *line =
        location->line_count ? &location->lines[i] : NULL;

    st = report_frame(report, file, at, line, &function);
    if (!st)
      st = report_push(report, function, depth);
  }
  return st;
}

spanprof_status sp_report_functions_find(sp_report *report,
                                         sp_report_file *file,
                                         const sp_pprof_sample *sample,
                                         size_t *depth) {
  spanprof_status st = SPANPROF_OK;
  uint32_t function;
  size_t i;

  *depth = 0;
  for (i = 0; i < sample->location_count && !st; i++)
    st = report_push_location(report, file, sample->locations[i], depth);
  if (st || *depth)
    return st;
  st = report_function(report, "[no stack]", "", 0, &function);
  return st ? st : report_push(report, function, depth);
}

/* Find the kind of the application's own functions in a profile. */
static spanprof_status report_own_kind(sp_report *report,
                                       sp_report_file *file) {
  const sp_pprof *profile = file->profile;
  spanprof_status st = SPANPROF_OK;
  sp_code_kind kind;
  uint32_t number;
  size_t i;

  file->own_kind = SP_CODE_PROGRAM;
  for (i = 0; i < profile->function_count && !st; i++) {
    const char *path = profile->functions[i].file;

    st = sp_name_table_intern(&report->names, path, strlen(path), &number);
    if (!st)
      st = report_file_kind(report, number, path, &kind);
    if (!st && kind == SP_CODE_APPLICATION) {
      file->own_kind = kind;
      break;
    }
  }
  return st;
}

spanprof_status sp_report_functions_keep_own(sp_report *report,
                                             sp_report_file *file,
                                             size_t *depth) {
  spanprof_status st = SPANPROF_OK;
  uint32_t function;
  size_t kept = 0, i;

  if (file->own_kind == SP_CODE_NONE)
    st = report_own_kind(report, file);
  for (i = 0; i < *depth && !st; i++)
    if (report->functions[report->stack[i]].kind == file->own_kind)
      report->stack[kept++] = report->stack[i];
  *depth = kept;
  if (st || kept > 0)
    return st;
  st = report_function(report, "[other code]", "", 0, &function);
  return st ? st : report_push(report, function, depth);
}

bool sp_report_functions_match(const sp_report *report, size_t depth) {
  const sp_report_filter *filter = &report->options->filter;
  unsigned found = 0;
  size_t i;

  if (!filter->focus.given && !filter->ignore.given)
    return true;
  for (i = 0; i < depth; i++)
    found |= report->functions[report->stack[i]].found;
  return (!filter->focus.given || found & SP_REPORT_FOCUSED) &&
         !(found & SP_REPORT_IGNORED);
}

void sp_report_functions_add(sp_report *report, size_t depth,
                             const sp_amount *amount) {
  size_t i;

  for (i = 0; i < depth; i++) {
    sp_report_function *entry = &report->functions[report->stack[i]];

    if (i == 0)
      sp_amount_add(&entry->self, amount);
    /* A function that occurs several times in a stack, by recursion, counts
     * once. */
    if (entry->last_sample != report->samples) {
      entry->last_sample = report->samples;
      sp_amount_add(&entry->total, amount);
    }
  }
}
