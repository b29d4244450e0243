#include "report_functions.h"

#include "../util/status.h"

#include <stdio.h>
#include <string.h>

/* Index numbers that stand for "not yet", in arrays of `count`. */
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

/* The index of a function, added where it is new. */
static spanprof_status report_function(sp_report *report, const char *text,
                                       size_t bytes, const char *path,
                                       uint32_t *out) {
  uint32_t name, file, at, i;
  uint64_t hash;
  spanprof_status st = sp_name_table_intern(&report->names, text, bytes, &name);

  if (st == SPANPROF_OK)
    st = sp_name_table_intern(&report->names, path, strlen(path), &file);
  if (st != SPANPROF_OK)
    return sp_fail(st, "too many names to remember");
  hash = sp_hash_mix(sp_hash_mix(name, SP_HASH_SEED), file);
  for (i = sp_index_first(&report->function_index, hash, &at);
       i != SP_INDEX_NONE;
       i = sp_index_next(&report->function_index, hash, &at)) {
    if (report->functions[i].name == name &&
        report->functions[i].file == file) {
      *out = i;
      return SPANPROF_OK;
    }
  }
  st = sp_mem_reserve(report->mem, (void **)&report->functions,
                      &report->function_capacity, report->function_count + 1,
                      sizeof *report->functions);
  if (st == SPANPROF_OK)
    st = sp_index_reserve(&report->function_index, report->mem);
  if (st != SPANPROF_OK)
    return sp_fail(st, "too many functions to remember");
  *out = (uint32_t)report->function_count;
  report->functions[report->function_count++] =
      (sp_report_function){.name = name, .file = file};
  sp_index_add(&report->function_index, hash, *out);
  return SPANPROF_OK;
}

/* The last part of a mapping's path, "" where it has none. */
static const char *report_module(const sp_pprof *profile, uint32_t location) {
  const uint32_t mapping = profile->locations[location].mapping;
  const char *path =
      mapping == SP_PPROF_NONE ? "" : profile->mappings[mapping].file;
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

/* Code of which only the module is known. */
static spanprof_status report_unnamed(sp_report *report, const char *module,
                                      uint32_t *out) {
  char text[256];

  if (*module == '[')
    snprintf(text, sizeof text, "%.200s", module);
  else
    snprintf(text, sizeof text, "[%.200s]", *module ? module : "unknown");
  return report_function(report, text, strlen(text), "", out);
}

/* The report's number of the function behind one line, or, without a line,
 * of the location. */
static spanprof_status report_frame(sp_report *report, sp_report_file *file,
                                    uint32_t location,
                                    const sp_pprof_line *line, uint32_t *out) {
  const sp_pprof *profile = file->profile;
  const sp_pprof_function *function =
      line ? &profile->functions[line->function] : NULL;
  uint32_t *known = function ? &file->of_function[line->function]
                             : &file->of_location[location];
  const char *module, *name = "";
  spanprof_status st = SPANPROF_OK;

  if (*known == SP_INDEX_NONE) {
    module = report_module(profile, location);
    if (function)
      name = *function->name ? function->name : function->system_name;
    st = *name
             ? report_function(report, name, strlen(name),
                               *function->file ? function->file : module, known)
             : report_unnamed(report, module, known);
  }
  *out = *known;
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
    if (st == SPANPROF_OK)
      st = report_push(report, function, depth);
  }
  return st;
}

spanprof_status sp_report_functions_add(sp_report *report, sp_report_file *file,
                                        const sp_pprof_sample *sample,
                                        int64_t value, size_t *depth) {
  spanprof_status st = SPANPROF_OK;
  uint32_t function;
  size_t i;

  *depth = 0;
  for (i = 0; i < sample->location_count && st == SPANPROF_OK; i++)
    st = report_push_location(report, file, sample->locations[i], depth);
  if (st == SPANPROF_OK && *depth == 0) {
    st = report_function(report, "[no stack]", strlen("[no stack]"), "",
                         &function);
    if (st == SPANPROF_OK)
      st = report_push(report, function, depth);
  }
  if (st != SPANPROF_OK)
    return st;
  for (i = 0; i < *depth; i++) {
    sp_report_function *entry = &report->functions[report->stack[i]];

    if (i == 0)
      entry->self = sp_report_sum(entry->self, value);
    /* Recursion: a function is in a stack once, however often. */
    if (entry->last_sample != report->samples) {
      entry->last_sample = report->samples;
      entry->total = sp_report_sum(entry->total, value);
    }
  }
  return SPANPROF_OK;
}
