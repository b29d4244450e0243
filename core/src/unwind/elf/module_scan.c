#include "module_scan.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "elf_notes.h"
#include "util/system/loader.h"

/* While dl_iterate_phdr() holds the loader's lock, nothing is allocated,
 * because a replaced malloc() may itself call the loader. Records that do not
 * fit are counted, and the scan is repeated with more memory. */

typedef struct scan_state {
  sp_module_scan *scan;
  const sp_module_scan *since;
} scan_state;

/* Read the loader's counts of loads and unloads. Returns true if they equal
 * those of the scan `since`. */
static bool scan_same(const struct dl_phdr_info *info, size_t size,
                      const scan_state *state) {
  sp_module_scan *scan = state->scan;

  if (size < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
    return false;
  scan->counted = true;
  scan->adds = info->dlpi_adds;
  scan->subs = info->dlpi_subs;
  return state->since->counted && state->since->adds == scan->adds &&
         state->since->subs == scan->subs;
}

/* Read the build id from the module's memory, which stays mapped while the
 * loader's lock is held. */
static void scan_build_id(const struct dl_phdr_info *info,
                          sp_scan_record *out) {
  size_t i;

  out->build_id[0] = '\0';
  for (i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    const uint64_t at = out->bias + segment->p_vaddr;

    if (segment->p_type == PT_NOTE && at >= out->start && at < out->limit &&
        segment->p_filesz <= out->limit - at &&
        sp_elf_notes_build_id((const void *)(uintptr_t)at, segment->p_filesz,
                              out->build_id))
      return;
  }
}

/* Read the segments of a module. Returns false if the module has no code. */
static bool scan_segments(const struct dl_phdr_info *info,
                          sp_scan_record *out) {
  size_t i;

  out->bias = info->dlpi_addr;
  out->start = UINT64_MAX;
  out->limit = 0;
  out->code_start = UINT64_MAX;
  out->code_limit = 0;
  for (i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    const uint64_t start = out->bias + segment->p_vaddr;
    const uint64_t limit = start + segment->p_memsz;

    if (segment->p_type != PT_LOAD || limit <= start)
      continue;
    out->start = sp_min_u64(out->start, start);
    out->limit = sp_max_u64(out->limit, limit);
    if (!(segment->p_flags & PF_X))
      continue;
    if (start < out->code_start) {
      out->code_start = start;
      out->file_offset = segment->p_offset;
    }
    out->code_limit = sp_max_u64(out->code_limit, limit);
  }
  return out->code_limit > 0;
}

static void scan_record(sp_module_scan *scan, const struct dl_phdr_info *info) {
  const char *name = info->dlpi_name ? info->dlpi_name : "";
  const size_t name_size = strlen(name) + 1;
  sp_scan_record record = {.name = scan->names_size};

  if (!scan_segments(info, &record))
    return;
  /* The loader lists the program first. */
  record.is_main = scan->callbacks == 1;
  record.is_vdso = scan->vdso >= record.start && scan->vdso < record.limit;
  record.segments_hash =
      sp_elf_segments_hash(info->dlpi_phdr, info->dlpi_phnum);
  scan_build_id(info, &record);
  scan->names_size += name_size;
  if (scan->names_size <= scan->names_capacity)
    memcpy(scan->names + record.name, name, name_size);
  if (scan->count < scan->capacity)
    scan->records[scan->count] = record;
  scan->count++;
}

static int scan_module(struct dl_phdr_info *info, size_t size, void *data) {
  const scan_state *state = data;
  sp_module_scan *scan = state->scan;

  if (scan->callbacks++ == 0 && scan_same(info, size, state)) {
    scan->unchanged = true;
    return 1;
  }
  scan_record(scan, info);
  return 0;
}

/* Add the vDSO if the loader does not list it, as in statically linked
 * programs. */
static void scan_vdso(sp_module_scan *scan) {
  const ElfW(Ehdr) *header = (const void *)(uintptr_t)scan->vdso;
  struct dl_phdr_info info = {.dlpi_name = ""};
  size_t i;

  for (i = 0; i < scan->count && i < scan->capacity; i++)
    if (scan->records[i].is_vdso)
      return;
  if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return;
  info.dlpi_phdr = (const void *)((const char *)header + header->e_phoff);
  info.dlpi_phnum = header->e_phnum;
  for (i = 0; i < info.dlpi_phnum; i++)
    if (info.dlpi_phdr[i].p_type == PT_LOAD) {
      info.dlpi_addr = scan->vdso - info.dlpi_phdr[i].p_vaddr;
      scan->callbacks++;
      scan_record(scan, &info);
      return;
    }
}

spanprof_status sp_module_scan_run(sp_module_scan *scan,
                                   const sp_module_scan *since,
                                   const sp_mem *mem) {
  scan_state state = {scan, since};
  spanprof_status st = SPANPROF_OK;

  *scan = (sp_module_scan){.mem = mem, .vdso = getauxval(AT_SYSINFO_EHDR)};
  while (!st) {
    scan->count = 0;
    scan->names_size = 0;
    scan->callbacks = 0;
    sp_loader_enter();
    dl_iterate_phdr(scan_module, &state);
    sp_loader_leave();
    if (scan->unchanged)
      return SPANPROF_OK;
    scan_vdso(scan);
    if (scan->count <= scan->capacity &&
        scan->names_size <= scan->names_capacity)
      return SPANPROF_OK;
    st = sp_mem_reserve(mem, (void **)&scan->records, &scan->capacity,
                        scan->count, sizeof *scan->records);
    if (!st)
      st = sp_mem_reserve(mem, (void **)&scan->names, &scan->names_capacity,
                          scan->names_size, 1);
  }
  return st;
}

void sp_module_scan_dispose(sp_module_scan *scan) {
  sp_mem_free(scan->mem, scan->records);
  sp_mem_free(scan->mem, scan->names);
  scan->records = NULL;
  scan->names = NULL;
  scan->capacity = 0;
  scan->names_capacity = 0;
}
