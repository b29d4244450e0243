#include "remote_unwind.h"

/* The systems that compile gems and wheels may not have libunwind's headers. */
#if __has_include(<libunwind.h>)

#include <dlfcn.h>
#include <libunwind.h>
#include <string.h>

#include "util/system/loader.h"

#if defined(__x86_64__)
#define REMOTE_LIBRARY   "libunwind-x86_64.so.8"
#define REMOTE_NAME(end) "_Ux86_64_" end
#else
#define REMOTE_LIBRARY   "libunwind-aarch64.so.8"
#define REMOTE_NAME(end) "_Uaarch64_" end
#endif

/* Number of pages of modules' constants that are cached between walks. Finding
 * and reading an FDE needs about ten pages. */
#define REMOTE_PAGES 32
#define REMOTE_PAGE  4096u

/* Sizes of libunwind's structures, with a reserve, because they are larger in
 * later versions of libunwind than in the header at compile time. Version 1.8
 * extended unw_accessors_t, and the cursor's size changed on arm64. */
#define REMOTE_ACCESSORS_BYTES 512
#define REMOTE_CURSOR_BYTES    36864

/* The start of an .eh_frame_hdr with a search table in the form that every
 * linker writes: version 1, pointer and count of 4 bytes, table of 4-byte
 * offsets from the section (LSB Core 5.0, §10.6.2). */
#define REMOTE_HEADER_BYTES 12u
static const uint8_t remote_header[4] = {1, 0x1b, 0x03, 0x3b};

typedef struct remote_api {
  unw_addr_space_t (*create)(unw_accessors_t *accessors, int order);
  void (*destroy)(unw_addr_space_t space);
  int (*set_caching)(unw_addr_space_t space, unw_caching_policy_t policy);
  int (*init)(unw_cursor_t *cursor, unw_addr_space_t space, void *arg);
  int (*step)(unw_cursor_t *cursor);
  int (*get_reg)(unw_cursor_t *cursor, int number, unw_word_t *out);
  int (*search)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *table,
                unw_proc_info_t *out, int need_unwind_info, void *arg);
} remote_api;

typedef struct remote_page {
  uint32_t module; /* 0: the entry is free */
  uint64_t vaddr;
  size_t from; /* bytes from `from` to `until` of the page are in the segment */
  size_t until;
  uint8_t bytes[REMOTE_PAGE];
} remote_page;

typedef union remote_accessors {
  unw_accessors_t accessors;
  char reserve[REMOTE_ACCESSORS_BYTES];
} remote_accessors;

typedef union remote_cursor {
  unw_cursor_t cursor;
  char reserve[REMOTE_CURSOR_BYTES];
} remote_cursor;

struct sp_remote_unwind {
  const sp_mem *mem;
  const sp_module_list *list;
  void *library;
  remote_api api;
  remote_accessors accessors;
  remote_cursor cursor;
  unw_addr_space_t space;
  remote_page *pages;
  /* State of the current stack walk. */
  const sp_stack_slice *slice;
  bool missed;  /* the current step needed data beyond the slice */
  bool no_info; /* the current step reached code without unwind information */
};

static const sp_elf_image *remote_image(const sp_remote_unwind *remote,
                                        uint32_t module) {
  return sp_module_entry_image(sp_module_list_get(remote->list, module));
}

/* Read constants of a module at an ELF virtual address, through the page
 * cache. */
static bool remote_read(sp_remote_unwind *remote, uint32_t module,
                        uint64_t vaddr, void *out, size_t size) {
  const uint64_t page_vaddr = vaddr & ~(uint64_t)(REMOTE_PAGE - 1);
  const size_t inside = (size_t)(vaddr - page_vaddr);
  remote_page *page =
      &remote->pages[(page_vaddr / REMOTE_PAGE + module) % REMOTE_PAGES];
  const sp_elf_image *image;

  if (page->module != module || page->vaddr != page_vaddr) {
    page->module = 0;
    image = remote_image(remote, module);
    if (!image ||
        !sp_elf_image_read_page(image, vaddr, page_vaddr, REMOTE_PAGE,
                                page->bytes, &page->from, &page->until))
      return false;
    page->module = module;
    page->vaddr = page_vaddr;
  }
  if (inside >= page->from && size <= page->until - inside) {
    memcpy(out, page->bytes + inside, size);
    return true;
  }
  image = remote_image(remote, module);
  return image && sp_elf_image_read_vaddr(image, vaddr, out, size);
}

/* Describe the search table of .eh_frame_hdr. Returns false if there is no
 * table or it has another form. */
static bool remote_table(sp_remote_unwind *remote, const sp_mapping *mapping,
                         unw_dyn_info_t *out) {
  const sp_elf_unwind *unwind =
      sp_module_entry_unwind(sp_module_list_get(remote->list, mapping->module));
  uint8_t header[REMOTE_HEADER_BYTES];
  uint32_t count;

  if (!unwind || unwind->header_vaddr == 0 ||
      !remote_read(remote, mapping->module, unwind->header_vaddr, header,
                   sizeof header) ||
      memcmp(header, remote_header, sizeof remote_header) != 0)
    return false;
  memcpy(&count, header + 8, sizeof count);
  if (count > (unwind->header_size - sizeof header) / 8)
    return false;
  memset(out, 0, sizeof *out);
  out->start_ip = mapping->code_start;
  out->end_ip = mapping->code_limit;
  out->format = UNW_INFO_FORMAT_REMOTE_TABLE;
  out->u.rti.segbase = unwind->header_vaddr + mapping->bias;
  out->u.rti.table_data = out->u.rti.segbase + sizeof header;
  out->u.rti.table_len = (unw_word_t)count * 8 / sizeof(unw_word_t);
  return true;
}

static int remote_find_proc_info(unw_addr_space_t space, unw_word_t ip,
                                 unw_proc_info_t *out, int need_unwind_info,
                                 void *arg) {
  sp_remote_unwind *remote = arg;
  const sp_mapping *mapping = sp_module_list_find(remote->list, ip);
  unw_dyn_info_t table;
  int found = -UNW_ENOINFO;

  if (mapping && ip >= mapping->code_start && ip < mapping->code_limit &&
      remote_table(remote, mapping, &table))
    found = remote->api.search(space, ip, &table, out, need_unwind_info, arg);
  if (found < 0)
    remote->no_info = true;
  return found;
}

/* Does nothing, because libunwind itself frees the memory that search()
 * allocates (dwarf/Gparser.c, 1.6.2, put_unwind_info()). */
static void remote_put_unwind_info(unw_addr_space_t space,
                                   unw_proc_info_t *info, void *arg) {
  (void)space;
  (void)info;
  (void)arg;
}

static int remote_dyn_list(unw_addr_space_t space, unw_word_t *out, void *arg) {
  (void)space;
  (void)out;
  (void)arg;
  return -UNW_ENOINFO;
}

static int remote_access_mem(unw_addr_space_t space, unw_word_t address,
                             unw_word_t *value, int write, void *arg) {
  sp_remote_unwind *remote = arg;
  const sp_stack_slice *slice = remote->slice;
  const sp_mapping *mapping;

  (void)space;
  if (write)
    return -UNW_EINVAL;
  if (address >= slice->base && slice->size >= sizeof *value &&
      address - slice->base <= slice->size - sizeof *value) {
    memcpy(value, (const char *)slice->bytes + (address - slice->base),
           sizeof *value);
    return 0;
  }
  mapping = sp_module_list_find(remote->list, address);
  if (mapping && remote_read(remote, mapping->module, address - mapping->bias,
                             value, sizeof *value))
    return 0;
  if (!mapping)
    remote->missed = true;
  return -UNW_EINVAL;
}

static int remote_access_reg(unw_addr_space_t space, unw_regnum_t number,
                             unw_word_t *value, int write, void *arg) {
  const sp_remote_unwind *remote = arg;

  (void)space;
  /* libunwind uses DWARF's register numbers on both architectures. */
  if (write || number < 0 || number >= SP_REGISTER_COUNT)
    return -UNW_EBADREG;
  *value = remote->slice->registers.r[number];
  return 0;
}

static int remote_access_fpreg(unw_addr_space_t space, unw_regnum_t number,
                               unw_fpreg_t *value, int write, void *arg) {
  (void)space;
  (void)number;
  (void)value;
  (void)write;
  (void)arg;
  return -UNW_EBADREG;
}

static int remote_resume(unw_addr_space_t space, unw_cursor_t *cursor,
                         void *arg) {
  (void)space;
  (void)cursor;
  (void)arg;
  return -UNW_EINVAL;
}

static int remote_proc_name(unw_addr_space_t space, unw_word_t address,
                            char *name, size_t size, unw_word_t *offset,
                            void *arg) {
  (void)space;
  (void)address;
  (void)name;
  (void)size;
  (void)offset;
  (void)arg;
  return -UNW_ENOINFO;
}

static bool remote_symbol(void *library, const char *name, void *out) {
  void *symbol = dlsym(library, name);

  memcpy(out, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool remote_find(sp_remote_unwind *remote) {
  void *library = remote->library =
      dlopen(REMOTE_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  remote_api *api = &remote->api;

  return library &&
         remote_symbol(library, REMOTE_NAME("create_addr_space"),
                       &api->create) &&
         remote_symbol(library, REMOTE_NAME("destroy_addr_space"),
                       &api->destroy) &&
         remote_symbol(library, REMOTE_NAME("set_caching_policy"),
                       &api->set_caching) &&
         remote_symbol(library, REMOTE_NAME("init_remote"), &api->init) &&
         remote_symbol(library, REMOTE_NAME("step"), &api->step) &&
         remote_symbol(library, REMOTE_NAME("get_reg"), &api->get_reg) &&
         remote_symbol(library, REMOTE_NAME("dwarf_search_unwind_table"),
                       &api->search);
}

static bool remote_load(sp_remote_unwind *remote) {
  bool found;

  sp_loader_enter();
  found = remote_find(remote);
  sp_loader_leave();
  return found;
}

static size_t remote_walk(sp_remote_unwind *remote, uint64_t *out, size_t max,
                          sp_unwind_end *end) {
  unw_cursor_t *cursor = &remote->cursor.cursor;
  size_t n = 0;
  int stepped;

  *end = SP_UNWIND_NO_INFO;
  if (remote->api.init(cursor, remote->space, remote) < 0)
    return 0;
  for (;;) {
    unw_word_t ip = 0;

    *end = SP_UNWIND_COMPLETE;
    if (remote->api.get_reg(cursor, UNW_REG_IP, &ip) < 0 || ip == 0)
      return n;
    out[n++] = ip;
    *end = SP_UNWIND_CUT;
    if (n == max)
      return n;
    remote->missed = false;
    remote->no_info = false;
    stepped = remote->api.step(cursor);
    /* Without unwind information, libunwind guesses the caller. spanprof stops
     * instead. */
    if (stepped < 0 || remote->no_info) {
      *end = remote->missed ? SP_UNWIND_CUT : SP_UNWIND_NO_INFO;
      return n;
    }
    if (stepped == 0) {
      *end = SP_UNWIND_COMPLETE;
      return n;
    }
  }
}

spanprof_status sp_remote_unwind_new(sp_remote_unwind **out,
                                     const sp_module_list *list,
                                     const sp_mem *mem) {
  sp_remote_unwind *remote = sp_mem_zero(mem, sizeof *remote);

  *out = NULL;
  if (!remote)
    return SPANPROF_ERR_NOMEM;
  remote->mem = mem;
  remote->list = list;
  remote->pages = sp_mem_zero(mem, REMOTE_PAGES * sizeof *remote->pages);
  if (!remote->pages) {
    sp_remote_unwind_free(remote);
    return SPANPROF_ERR_NOMEM;
  }
  if (!remote_load(remote)) {
    sp_remote_unwind_free(remote);
    return SPANPROF_ERR_UNSUPPORTED;
  }
  remote->accessors.accessors = (unw_accessors_t){
      .find_proc_info = remote_find_proc_info,
      .put_unwind_info = remote_put_unwind_info,
      .get_dyn_info_list_addr = remote_dyn_list,
      .access_mem = remote_access_mem,
      .access_reg = remote_access_reg,
      .access_fpreg = remote_access_fpreg,
      .resume = remote_resume,
      .get_proc_name = remote_proc_name,
  };
  remote->space = remote->api.create(&remote->accessors.accessors, 0);
  if (!remote->space) {
    sp_remote_unwind_free(remote);
    return SPANPROF_ERR_NOMEM;
  }
  /* libunwind's cache is not used, because its entries would outlive an
   * unloaded module. */
  remote->api.set_caching(remote->space, UNW_CACHE_NONE);
  *out = remote;
  return SPANPROF_OK;
}

static void library_close(void *library) {
  sp_loader_enter();
  dlclose(library);
  sp_loader_leave();
}

void sp_remote_unwind_free(sp_remote_unwind *remote) {
  if (!remote)
    return;
  if (remote->space)
    remote->api.destroy(remote->space);
  if (remote->library)
    library_close(remote->library);
  sp_mem_free(remote->mem, remote->pages);
  sp_mem_free(remote->mem, remote);
}

size_t sp_remote_unwind_walk(sp_remote_unwind *remote,
                             const sp_stack_slice *slice, uint64_t *out,
                             size_t max, sp_unwind_end *end) {
  size_t n;

  remote->slice = slice;
  n = remote_walk(remote, out, max, end);
  remote->slice = NULL;
  return n;
}

#else

spanprof_status sp_remote_unwind_new(sp_remote_unwind **out,
                                     const sp_module_list *list,
                                     const sp_mem *mem) {
  (void)list;
  (void)mem;
  *out = NULL;
  return SPANPROF_ERR_UNSUPPORTED;
}

void sp_remote_unwind_free(sp_remote_unwind *remote) {
  (void)remote;
}

size_t sp_remote_unwind_walk(sp_remote_unwind *remote,
                             const sp_stack_slice *slice, uint64_t *out,
                             size_t max, sp_unwind_end *end) {
  (void)remote;
  (void)slice;
  (void)out;
  (void)max;
  *end = SP_UNWIND_NO_INFO;
  return 0;
}

#endif
