#include "module_list.h"

#include "process_maps.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ages that an unloaded module lives on. */
#define LIST_GRACE 2

/* The kernel maps the vDSO in whole pages; its section headers lie behind its
 * one segment. */
static size_t list_vdso_bytes(const sp_scan_record *record) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

  return (size_t)((record->limit - record->start + page - 1) & ~(page - 1));
}

/* The facts behind a record; `path` is room for PATH_MAX bytes. */
static void list_facts(const sp_module_list *list, const sp_module_scan *scan,
                       const sp_scan_record *record, char *path,
                       sp_module_facts *out) {
  const char *name = scan->names + record->name;
  bool deleted;

  *out = (sp_module_facts){
      .kind = SP_MODULE_FILE,
      .path = name,
      .build_id = record->build_id,
      .segments_hash = record->segments_hash,
      .start = record->code_start - record->bias,
      .limit = record->code_limit - record->bias,
      .file_offset = record->file_offset,
      .debug_directory = list->debug_directory,
  };
  if (record->is_vdso) {
    out->kind = SP_MODULE_VDSO;
    out->path = "[vdso]";
    out->bytes = (const void *)(uintptr_t)record->start;
    out->byte_count = list_vdso_bytes(record);
  } else if (record->is_main) {
    out->kind = SP_MODULE_MAIN;
    /* The loader has no name for the program. */
    if (sp_process_maps_file(record->code_start, path, PATH_MAX, &deleted) &&
        path[0] == '/')
      out->path = path;
  } else if (name[0] != '/' && realpath(name, path)) {
    out->path = path;
  }
}

static uint32_t list_known(const sp_module_list *list,
                           const sp_module_facts *facts) {
  size_t i;

  for (i = 0; i < list->module_count; i++)
    if (sp_module_entry_is(list->modules[i], facts))
      return (uint32_t)(i + 1);
  return 0;
}

/* The number of the module with these facts, new or known. */
static spanprof_status list_module(sp_module_list *list,
                                   const sp_module_facts *facts,
                                   uint32_t *number) {
  spanprof_status st;

  *number = list_known(list, facts);
  if (*number != 0)
    return SPANPROF_OK;
  st =
      sp_mem_reserve(list->mem, (void **)&list->modules, &list->module_capacity,
                     list->module_count + 1, sizeof *list->modules);
  if (st == SPANPROF_OK)
    st = sp_module_entry_new(&list->modules[list->module_count], facts,
                             list->mem);
  if (st != SPANPROF_OK)
    return st;
  *number = (uint32_t)++list->module_count;
  return SPANPROF_OK;
}

static sp_mapping *list_mapping_at(const sp_module_list *list,
                                   const sp_mapping *like) {
  size_t i;

  for (i = 0; i < list->mapping_count; i++) {
    sp_mapping *mapping = &list->mappings[i];

    if (mapping->start == like->start && mapping->bias == like->bias &&
        mapping->module == like->module)
      return mapping;
  }
  return NULL;
}

static spanprof_status list_take(sp_module_list *list,
                                 const sp_module_scan *scan,
                                 const sp_scan_record *record) {
  sp_mapping mapping = {.start = record->start,
                        .limit = record->limit,
                        .code_start = record->code_start,
                        .code_limit = record->code_limit,
                        .bias = record->bias,
                        .seen = true};
  sp_module_facts facts;
  char path[PATH_MAX];
  sp_mapping *known;
  spanprof_status st;

  list_facts(list, scan, record, path, &facts);
  st = list_module(list, &facts, &mapping.module);
  if (st != SPANPROF_OK)
    return st;
  sp_module_list_get(list, mapping.module)->code_address = mapping.code_start;
  known = list_mapping_at(list, &mapping);
  if (known) {
    *known = mapping;
    return SPANPROF_OK;
  }
  st = sp_mem_reserve(list->mem, (void **)&list->mappings,
                      &list->mapping_capacity, list->mapping_count + 1,
                      sizeof *list->mappings);
  if (st == SPANPROF_OK)
    list->mappings[list->mapping_count++] = mapping;
  return st;
}

static bool list_overlapped(const sp_module_list *list,
                            const sp_mapping *gone) {
  size_t i;

  for (i = 0; i < list->mapping_count; i++) {
    const sp_mapping *mapping = &list->mappings[i];

    if (mapping->seen && mapping->start < gone->limit &&
        gone->start < mapping->limit)
      return true;
  }
  return false;
}

static int list_order(const void *a, const void *b) {
  const sp_mapping *left = a, *right = b;

  return left->start < right->start ? -1 : left->start > right->start;
}

/* Free what only modules that are not loaded needed. */
static void list_forget(sp_module_list *list) {
  size_t i, k;

  for (i = 0; i < list->module_count; i++) {
    for (k = 0; k < list->mapping_count; k++)
      if (list->mappings[k].module == i + 1)
        break;
    if (k == list->mapping_count) {
      /* Again, if a late sample had it read once more. */
      list->modules[i]->code_address = 0;
      sp_module_entry_forget(list->modules[i]);
    }
  }
}

/* Put the mappings in order after a scan: `seen` are those loaded now. */
static void list_settle(sp_module_list *list) {
  size_t i, kept = 0;

  for (i = 0; i < list->mapping_count; i++) {
    sp_mapping *mapping = &list->mappings[i];

    if (!mapping->seen && mapping->grace == 0)
      mapping->grace = LIST_GRACE;
    if (mapping->seen || !list_overlapped(list, mapping))
      list->mappings[kept++] = *mapping;
  }
  list->mapping_count = kept;
  if (kept > 0)
    qsort(list->mappings, kept, sizeof *list->mappings, list_order);
  list_forget(list);
  list->generation++;
}

void sp_module_list_init(sp_module_list *list, const sp_mem *mem) {
  *list = (sp_module_list){.mem = mem,
                           .debug_directory = SP_MODULE_DEBUG_DIRECTORY};
}

void sp_module_list_dispose(sp_module_list *list) {
  size_t i;

  for (i = 0; i < list->module_count; i++)
    sp_module_entry_free(list->modules[i]);
  sp_mem_free(list->mem, list->modules);
  sp_mem_free(list->mem, list->mappings);
  sp_module_list_init(list, list->mem);
}

spanprof_status sp_module_list_refresh(sp_module_list *list) {
  sp_module_scan scan;
  spanprof_status st = sp_module_scan_run(&scan, &list->last_scan, list->mem);
  size_t i;

  if (st == SPANPROF_OK && !scan.unchanged) {
    for (i = 0; i < list->mapping_count; i++)
      list->mappings[i].seen = false;
    for (i = 0; i < scan.count && st == SPANPROF_OK; i++)
      st = list_take(list, &scan, &scan.records[i]);
    list_settle(list);
    list->last_scan = (sp_module_scan){
        .counted = st == SPANPROF_OK && scan.counted,
        .adds = scan.adds,
        .subs = scan.subs,
    };
  }
  sp_module_scan_dispose(&scan);
  return st;
}

void sp_module_list_age(sp_module_list *list) {
  size_t i, kept = 0;

  for (i = 0; i < list->mapping_count; i++) {
    sp_mapping *mapping = &list->mappings[i];

    if (mapping->grace == 0 || --mapping->grace > 0)
      list->mappings[kept++] = *mapping;
  }
  if (kept == list->mapping_count)
    return;
  list->mapping_count = kept;
  list_forget(list);
  list->generation++;
}

const sp_mapping *sp_module_list_find(const sp_module_list *list,
                                      uint64_t address) {
  size_t low = 0, high = list->mapping_count;

  while (low < high) {
    const size_t middle = low + (high - low) / 2;

    if (list->mappings[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0 || address >= list->mappings[low - 1].limit)
    return NULL;
  return &list->mappings[low - 1];
}

sp_module_entry *sp_module_list_get(const sp_module_list *list,
                                    uint32_t module) {
  return module > 0 && module <= list->module_count ? list->modules[module - 1]
                                                    : NULL;
}
