#include "adhoc_profile.h"

#include <stdlib.h>
#include <string.h>

#include "adhoc_json.h"
#include "formats/foreign_file.h"
#include "profile/pprof/gunzip.h"
#include "profile/tables/module_name.h"
#include "server/model/sum.h"
#include "server/query/selector/matcher_list.h"
#include "util/text/view.h"

/* Largest decompressed file, as in Pyroscope. */
#define ADHOC_BYTES_MAX ((size_t)4 << 20)

static spanprof_status adhoc_refuse(sp_query_fault *fault, const char *what) {
  return sp_query_refuse(fault, SP_CODE_INVALID,
                         "failed to parse profile: the file %s", what);
}

static spanprof_status adhoc_types(sp_adhoc_profile *out, sp_arena *arena,
                                   size_t count) {
  out->types = sp_arena_new(arena, count, sizeof *out->types);
  out->type_count = count;
  return out->types ? SPANPROF_OK : arena->st;
}

typedef struct pprof_names {
  uint32_t *functions; /* SP_INDEX_NONE: the function has no name */
  uint32_t *modules;   /* one for each mapping; the last is for frames without a
                        * mapping */
} pprof_names;

/* Get the tree node for the stack of a sample. */
static spanprof_status pprof_stack(const sp_pprof *profile,
                                   const sp_pprof_sample *sample,
                                   const pprof_names *names,
                                   sp_function_tree *tree, uint32_t *node) {
  spanprof_status st;
  uint32_t i, j;

  *node = 0;
  for (i = sample->location_count; i > 0; i--) {
    const sp_pprof_location *location =
        &profile->locations[sample->locations[i - 1]];
    const size_t module = sp_min_u64(location->mapping, profile->mapping_count);

    for (j = (uint32_t)sp_max_u64(location->line_count, 1); j > 0; j--) {
      uint32_t name = location->line_count
                          ? names->functions[location->lines[j - 1].function]
                          : SP_INDEX_NONE;

      if (name == SP_INDEX_NONE)
        name = names->modules[module];
      st = sp_call_tree_child(&tree->calls, node, name);
      if (st)
        return st;
    }
  }
  return SPANPROF_OK;
}

static spanprof_status pprof_name_all(const sp_pprof *profile, sp_arena *arena,
                                      sp_function_tree *tree,
                                      pprof_names *out) {
  char module[SP_MODULE_NAME_BYTES];
  spanprof_status st = SPANPROF_OK;
  size_t i;

  out->functions =
      sp_arena_new(arena, profile->function_count + 1, sizeof *out->functions);
  out->modules =
      sp_arena_new(arena, profile->mapping_count + 1, sizeof *out->modules);
  if (!out->functions || !out->modules)
    return arena->st;
  for (i = 0; !st && i < profile->function_count; i++) {
    const sp_pprof_function *function = &profile->functions[i];
    const char *name = *function->name ? function->name : function->system_name;

    out->functions[i] = SP_INDEX_NONE;
    if (*name)
      st = sp_function_tree_name(tree, name, strlen(name), &out->functions[i]);
  }
  for (i = 0; !st && i <= profile->mapping_count; i++) {
    const char *file =
        i < profile->mapping_count ? profile->mappings[i].file : "";

    st = sp_function_tree_name(tree, module,
                               sp_module_name(file, strlen(file), module),
                               &out->modules[i]);
  }
  return st;
}

/* Name the types. Folded stacks have no names for their values, so the first
 * type is the file's name. */
static spanprof_status pprof_describe(sp_adhoc_profile *out, sp_arena *arena,
                                      const char *file_name,
                                      const sp_foreign_file *file,
                                      const char *type) {
  const sp_pprof_type *types = file->profile->types;
  const char *unit;
  size_t i;
  spanprof_status st = adhoc_types(out, arena, file->type_count);

  for (i = 0; !st && i < out->type_count; i++) {
    const char *name = file->is_folded && i == 0 ? file_name : types[i].type;

    out->types[i] = sp_arena_text(arena, name, strlen(name));
    if (!out->types[i])
      return arena->st;
    if (type && strcmp(type, name) == 0)
      out->type = i;
  }
  if (st)
    return st;
  unit = types[out->type].unit;
  unit = sp_arena_text(arena, unit, strlen(unit));
  if (!unit)
    return arena->st;
  if (file->is_folded)
    out->bearer = (sp_flamebearer){.name = out->types[0],
                                   .units = "",
                                   .sample_rate = 100,
                                   .spy = "unknown",
                                   .groups_empty = true};
  else
    sp_flamebearer_units(out->types[out->type], unit, &out->bearer);
  return SPANPROF_OK;
}

/* Decompress a gzip file into `unpacked` and set *bytes to the result. */
static spanprof_status adhoc_unpack(sp_buffer *unpacked, const void **bytes,
                                    size_t *size, sp_query_fault *fault) {
  spanprof_status st = SPANPROF_OK;

  if (sp_gunzip_is(*bytes, *size)) {
    st = sp_gunzip(unpacked, *bytes, *size, ADHOC_BYTES_MAX);
    *bytes = unpacked->data;
    *size = unpacked->size;
  }
  if (st == SPANPROF_ERR_LIMIT || (!st && *size > ADHOC_BYTES_MAX))
    return adhoc_refuse(fault, "has more than 4 MiB");
  return st == SPANPROF_ERR_FORMAT
             ? adhoc_refuse(fault, "has malformed gzip data")
             : st;
}

/* Add the values of the type out->type to the tree. */
static spanprof_status adhoc_add(const sp_adhoc_profile *out, sp_arena *arena,
                                 const sp_pprof *profile,
                                 sp_function_tree *tree, uint32_t side) {
  pprof_names names;
  uint32_t node;
  size_t i;
  spanprof_status st = pprof_name_all(profile, arena, tree, &names);

  for (i = 0; !st && i < profile->sample_count; i++) {
    const int64_t value = profile->samples[i].values[out->type];

    /* Differences of profiles have negative values, which are skipped. */
    if (value <= 0)
      continue;
    st = pprof_stack(profile, &profile->samples[i], &names, tree, &node);
    if (!st)
      sp_increase(sp_function_tree_self(tree, node, side), value);
  }
  return st;
}

static spanprof_status adhoc_read(sp_adhoc_profile *out, sp_arena *arena,
                                  const char *name, const void *bytes,
                                  size_t size, const char *type,
                                  sp_function_tree *tree, uint32_t side,
                                  sp_query_fault *fault) {
  const sp_view start = sp_view_trim(sp_view_of(bytes, size));
  sp_foreign_file file;
  bool is_known = false;
  spanprof_status st = SPANPROF_OK;

  if (start.size && (*start.bytes == '{' || *start.bytes == '['))
    st = sp_adhoc_json_read(out, arena, start.bytes, start.size, type, tree,
                            side, &is_known, fault);
  if (st || is_known)
    return st;
  memset(out, 0, sizeof *out);
  st = sp_foreign_file_read(&file, arena->mem, name, bytes, size);
  if (st == SPANPROF_ERR_FORMAT || st == SPANPROF_ERR_LIMIT)
    return adhoc_refuse(fault, spanprof_last_error());
  if (!st)
    st = pprof_describe(out, arena, name, &file, type);
  if (!st)
    st = adhoc_add(out, arena, file.profile, tree, side);
  sp_pprof_free(file.profile);
  return st;
}

spanprof_status sp_adhoc_profile_read(sp_adhoc_profile *out, sp_arena *arena,
                                      const char *name, const void *bytes,
                                      size_t size, const char *type,
                                      sp_function_tree *tree, uint32_t side,
                                      sp_query_fault *fault) {
  sp_buffer unpacked;
  spanprof_status st;

  memset(out, 0, sizeof *out);
  sp_buffer_init(&unpacked, arena->mem);
  st = adhoc_unpack(&unpacked, &bytes, &size, fault);
  if (!st)
    st = adhoc_read(out, arena, name, bytes, size, type, tree, side, fault);
  sp_buffer_dispose(&unpacked);
  return st;
}
