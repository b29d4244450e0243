#include "module_list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind/elf/process_maps.h"

/* Number of calls of sp_module_list_age() for which an unloaded module is
 * kept. */
#define LIST_GRACE 2

/* The size of the vDSO in memory. The kernel maps it in whole pages, and its
 * section headers are after its only segment. */
static size_t list_vdso_bytes(const sp_scan_record *record) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

  return (size_t)((record->limit - record->start + page - 1) & ~(page - 1));
}

/* Describe the module of a record; `path` has PATH_MAX bytes. */
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
    /* Find the program's path in the memory map, because the loader has no name
     * for the program. */
    if (sp_process_maps_file(record->code_start, path, PATH_MAX, &deleted) &&
        path[0] == '/')
      out->path = path;
  } else if (name[0] != '/' && realpath(name, path)) {
    out->path = path;
  }
}

/* The number of mappings that begin at or below `address`, among the first
 * `count` mappings, which are sorted. */
static size_t list_below(const sp_module_list *list, size_t count,
                         uint64_t address) {
  size_t low = 0, high = count;

  while (low < high) {
    const size_t middle = low + (high - low) / 2;

    if (list->mappings[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Find the mapping that has the addresses and the module of `like`, among the
 * first `count` mappings. */
static sp_mapping *list_mapping_of(const sp_module_list *list, size_t count,
                                   const sp_mapping *like,
                                   const sp_module_facts *facts) {
  const size_t below = list_below(list, count, like->start);
  sp_mapping *mapping = below > 0 ? &list->mappings[below - 1] : NULL;

  if (mapping && mapping->start == like->start && mapping->bias == like->bias &&
      sp_module_entry_is(sp_module_list_get(list, mapping->module), facts))
    return mapping;
  return NULL;
}

static uint32_t list_known(const sp_module_list *list,
                           const sp_module_facts *facts) {
  size_t i;

  for (i = 0; i < list->module_count; i++)
    if (sp_module_entry_is(list->modules[i], facts))
      return list->modules[i]->number;
  return 0;
}

/* Get the number of the module with these facts. The module is added if it is
 * new. */
static spanprof_status list_module(sp_module_list *list,
                                   const sp_module_facts *facts,
                                   uint32_t *number) {
  sp_module_entry *module;
  spanprof_status st;

  *number = list_known(list, facts);
  if (*number != 0)
    return SPANPROF_OK;
  st =
      sp_mem_reserve(list->mem, (void **)&list->modules, &list->module_capacity,
                     list->module_count + 1, sizeof *list->modules);
  if (!st)
    st = sp_module_entry_new(&module, facts, list->mem);
  if (st)
    return st;
  *number = module->number = ++list->last_number;
  list->modules[list->module_count++] = module;
  return SPANPROF_OK;
}

/* Add or update the mapping of a record. The first `sorted` mappings are
 * sorted. */
static spanprof_status list_add_record(sp_module_list *list,
                                       const sp_module_scan *scan,
                                       const sp_scan_record *record,
                                       size_t sorted) {
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
  known = list_mapping_of(list, sorted, &mapping, &facts);
  if (known) {
    mapping.module = known->module;
    *known = mapping;
    st = SPANPROF_OK;
  } else {
    st = list_module(list, &facts, &mapping.module);
    if (!st)
      st = sp_mem_reserve(list->mem, (void **)&list->mappings,
                          &list->mapping_capacity, list->mapping_count + 1,
                          sizeof *list->mappings);
    if (!st)
      list->mappings[list->mapping_count++] = mapping;
  }
  if (!st)
    sp_module_list_get(list, mapping.module)->code_address = mapping.code_start;
  return st;
}

static int list_order(const void *a, const void *b) {
  const sp_mapping *left = a, *right = b;

  return left->start < right->start ? -1 : left->start > right->start;
}

/* Drop unloaded mappings whose addresses are in use again. Loaded mappings do
 * not overlap each other, and neither do unloaded ones; all are sorted by
 * start. */
static void list_drop_replaced(sp_module_list *list) {
  uint64_t loaded_from = UINT64_MAX, loaded_to = 0;
  size_t i, kept = 0;

  for (i = list->mapping_count; i-- > 0;) {
    sp_mapping *mapping = &list->mappings[i];

    if (mapping->seen)
      loaded_from = mapping->start;
    else if (loaded_from < mapping->limit)
      mapping->limit = mapping->start;
  }
  for (i = 0; i < list->mapping_count; i++) {
    const sp_mapping *mapping = &list->mappings[i];

    if (mapping->seen)
      loaded_to = mapping->limit;
    if (mapping->seen ||
        (mapping->limit > mapping->start && loaded_to <= mapping->start))
      list->mappings[kept++] = *mapping;
  }
  list->mapping_count = kept;
}

/* Free the data of modules that are not loaded. */
static void list_unload_unused(sp_module_list *list) {
  size_t i;

  for (i = 0; i < list->module_count; i++)
    list->modules[i]->found = false;
  for (i = 0; i < list->mapping_count; i++)
    sp_module_list_get(list, list->mappings[i].module)->found = true;
  for (i = 0; i < list->module_count; i++) {
    sp_module_entry *module = list->modules[i];

    if (module->found)
      continue;
    /* The data was freed before, but a late sample may have caused it to be
     * read again. */
    module->code_address = 0;
    sp_module_entry_unload(module);
  }
}

/* Finish a refresh: sort the mappings, and drop outdated ones. `seen` marks the
 * mappings that are loaded now. */
static void list_finish(sp_module_list *list) {
  size_t i;

  for (i = 0; i < list->mapping_count; i++) {
    sp_mapping *mapping = &list->mappings[i];

    if (!mapping->seen && mapping->grace == 0)
      mapping->grace = LIST_GRACE;
  }
  if (list->mapping_count > 0)
    qsort(list->mappings, list->mapping_count, sizeof *list->mappings,
          list_order);
  list_drop_replaced(list);
  list_unload_unused(list);
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
  const size_t sorted = list->mapping_count;
  size_t i;

  if (!st && !scan.unchanged) {
    for (i = 0; i < list->mapping_count; i++)
      list->mappings[i].seen = false;
    for (i = 0; i < scan.count && !st; i++)
      st = list_add_record(list, &scan, &scan.records[i], sorted);
    list_finish(list);
    list->last_scan = (sp_module_scan){
        .counted = !st && scan.counted,
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
  list_unload_unused(list);
  list->generation++;
}

bool sp_module_list_close_files(sp_module_list *list) {
  size_t i, kept = 0;
  bool incomplete = false;

  for (i = 0; i < list->module_count; i++) {
    sp_module_entry *module = list->modules[i];

    if (module->found) {
      incomplete = sp_module_entry_close_files(module) || incomplete;
      list->modules[kept++] = module;
    } else {
      sp_module_entry_free(module);
    }
  }
  list->module_count = kept;
  return incomplete;
}

const sp_mapping *sp_module_list_find(const sp_module_list *list,
                                      uint64_t address) {
  const size_t low = list_below(list, list->mapping_count, address);

  if (low == 0 || address >= list->mappings[low - 1].limit)
    return NULL;
  return &list->mappings[low - 1];
}

sp_module_entry *sp_module_list_get(const sp_module_list *list,
                                    uint32_t module) {
  size_t low = 0, high = list->module_count;

  while (low < high) {
    const size_t middle = low + (high - low) / 2;

    if (list->modules[middle]->number < module)
      low = middle + 1;
    else
      high = middle;
  }
  return low < list->module_count && list->modules[low]->number == module
             ? list->modules[low]
             : NULL;
}
