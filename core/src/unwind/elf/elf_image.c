#include "elf_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unwind/dwarf/dwarf_reader.h"
#include "util/memory/hash.h"

#if defined(__x86_64__)
#define ELF_IMAGE_MACHINE EM_X86_64
#else
#define ELF_IMAGE_MACHINE EM_AARCH64
#endif

/* More segments than in any linker's output. The maximum limits the work on a
 * broken file. */
#define ELF_IMAGE_SEGMENTS_MAX 256
#define ELF_IMAGE_SECTIONS_MAX 65536
#define ELF_IMAGE_LOAD_MAX     (UINT64_C(256) << 20)

static bool elf_image_inside(const sp_elf_image *image, uint64_t offset,
                             uint64_t size) {
  return offset <= image->size && size <= image->size - offset;
}

static spanprof_status elf_image_segments(sp_elf_image *image,
                                          const Elf64_Ehdr *header) {
  const size_t count = header->e_phnum;
  spanprof_status st = SPANPROF_OK;
  Elf64_Phdr *table;
  size_t i;

  if (count > ELF_IMAGE_SEGMENTS_MAX)
    return SPANPROF_ERR_FORMAT;
  if (count > 0 && header->e_phentsize != sizeof *table)
    return SPANPROF_ERR_FORMAT;
  table = sp_mem_new(image->mem, count * sizeof *table);
  image->segments = sp_mem_zero(image->mem, count * sizeof *image->segments);
  if (!table || !image->segments) {
    st = SPANPROF_ERR_NOMEM;
    goto cleanup;
  }
  if (!sp_elf_image_read(image, header->e_phoff, table,
                         count * sizeof *table)) {
    st = SPANPROF_ERR_FORMAT;
    goto cleanup;
  }
  for (i = 0; i < count; i++)
    image->segments[i] = (sp_elf_segment){
        .type = table[i].p_type,
        .flags = table[i].p_flags,
        .offset = table[i].p_offset,
        .vaddr = table[i].p_vaddr,
        .file_bytes = table[i].p_filesz,
        .memory_bytes = table[i].p_memsz,
    };
  image->segment_count = count;
  image->segments_hash = sp_elf_segments_hash(table, count);

cleanup:
  sp_mem_free(image->mem, table);
  return st;
}

static void elf_image_sections(sp_elf_image *image, const Elf64_Ehdr *header) {
  Elf64_Shdr first;

  if (header->e_shoff == 0 || header->e_shentsize != sizeof first)
    return;
  image->sections_offset = header->e_shoff;
  image->section_count = header->e_shnum;
  image->names_section = header->e_shstrndx;
  /* gABI 4.1, "ELF Header": numbers that do not fit in the header are in
   * section 0. */
  if (header->e_shnum != 0 && header->e_shstrndx != SHN_XINDEX)
    return;
  if (!sp_elf_image_read(image, header->e_shoff, &first, sizeof first))
    return;
  if (header->e_shnum == 0)
    image->section_count =
        (uint32_t)sp_min_u64(first.sh_size, ELF_IMAGE_SECTIONS_MAX);
  if (header->e_shstrndx == SHN_XINDEX)
    image->names_section = first.sh_link;
}

static spanprof_status elf_image_headers(sp_elf_image *image) {
  static const unsigned char start[] = {ELFMAG0, ELFMAG1,    ELFMAG2,
                                        ELFMAG3, ELFCLASS64, ELFDATA2LSB};
  spanprof_status st;
  Elf64_Ehdr header;

  if (!sp_elf_image_read(image, 0, &header, sizeof header) ||
      memcmp(header.e_ident, start, sizeof start) != 0 ||
      header.e_machine != ELF_IMAGE_MACHINE)
    return SPANPROF_ERR_FORMAT;
  st = elf_image_segments(image, &header);
  if (!st)
    elf_image_sections(image, &header);
  return st;
}

static bool elf_image_section_is(const sp_elf_image *image,
                                 const sp_elf_section *names, uint32_t name,
                                 const char *expected) {
  const size_t size = strlen(expected) + 1;
  char text[32];

  if (size > sizeof text || name > names->size || size > names->size - name)
    return false;
  return sp_elf_image_read(image, names->offset + name, text, size) &&
         memcmp(text, expected, size) == 0;
}

static bool elf_image_section_header(const sp_elf_image *image, uint32_t index,
                                     Elf64_Shdr *out) {
  return index < image->section_count &&
         elf_image_inside(image, image->sections_offset,
                          ((uint64_t)index + 1) * sizeof *out) &&
         sp_elf_image_read(
             image, image->sections_offset + (uint64_t)index * sizeof *out, out,
             sizeof *out);
}

static void elf_image_section_view(const Elf64_Shdr *header,
                                   sp_elf_section *out) {
  *out = (sp_elf_section){
      .type = header->sh_type,
      .link = header->sh_link,
      .vaddr = header->sh_addr,
      .offset = header->sh_offset,
      .size = header->sh_type == SHT_NOBITS ? 0 : header->sh_size,
      .item_bytes = header->sh_entsize,
  };
}

static const sp_elf_segment *elf_image_segment_of(const sp_elf_image *image,
                                                  uint64_t vaddr) {
  size_t i;

  for (i = 0; i < image->segment_count; i++) {
    const sp_elf_segment *segment = &image->segments[i];

    if (segment->type == PT_LOAD && vaddr >= segment->vaddr &&
        vaddr - segment->vaddr < segment->file_bytes)
      return segment;
  }
  return NULL;
}

/* Find .eh_frame through PT_GNU_EH_FRAME, for files without section headers.
 * The section extends at most to the end of its segment, and ends with a zero
 * length. */
static bool elf_image_unwind_by_header(const sp_elf_image *image,
                                       sp_elf_unwind *out) {
  const sp_elf_segment *segment;
  sp_dwarf_reader reader;
  uint8_t bytes[12], version, encoding;
  uint64_t inside;

  if (out->header_vaddr == 0 ||
      !sp_elf_image_read_vaddr(image, out->header_vaddr, bytes, sizeof bytes))
    return false;
  reader = sp_dwarf_reader_of(bytes, sizeof bytes, out->header_vaddr);
  version = sp_dwarf_u8(&reader);
  encoding = sp_dwarf_u8(&reader);
  sp_dwarf_skip(&reader, 2);
  out->vaddr = sp_dwarf_pointer(&reader, encoding);
  if (version != 1 || reader.failed)
    return false;
  segment = elf_image_segment_of(image, out->vaddr);
  if (!segment)
    return false;
  inside = out->vaddr - segment->vaddr;
  out->offset = segment->offset + inside;
  out->size = segment->file_bytes - inside;
  return true;
}

spanprof_status sp_elf_image_open(sp_elf_image *image, const char *path,
                                  const sp_mem *mem) {
  spanprof_status st;
  struct stat about;

  *image = (sp_elf_image){.mem = mem, .fd = -1};
  image->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (image->fd < 0)
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM
               ? SPANPROF_ERR_NOMEM
               : SPANPROF_ERR_IO;
  if (fstat(image->fd, &about) != 0 || !S_ISREG(about.st_mode)) {
    sp_elf_image_dispose(image);
    return SPANPROF_ERR_IO;
  }
  image->size = (uint64_t)about.st_size;
  st = elf_image_headers(image);
  if (st)
    sp_elf_image_dispose(image);
  return st;
}

spanprof_status sp_elf_image_wrap(sp_elf_image *image, const void *bytes,
                                  size_t size, const sp_mem *mem) {
  spanprof_status st;

  *image = (sp_elf_image){.mem = mem, .fd = -1, .bytes = bytes, .size = size};
  st = elf_image_headers(image);
  if (st)
    sp_elf_image_dispose(image);
  return st;
}

void sp_elf_image_dispose(sp_elf_image *image) {
  if (image->fd >= 0)
    close(image->fd);
  image->fd = -1;
  sp_mem_free(image->mem, image->segments);
  image->segments = NULL;
  image->segment_count = 0;
  image->section_count = 0;
  image->size = 0;
}

bool sp_elf_image_read(const sp_elf_image *image, uint64_t offset, void *out,
                       size_t size) {
  size_t done = 0;

  if (!elf_image_inside(image, offset, size))
    return false;
  if (image->fd < 0) {
    if (size > 0)
      memcpy(out, image->bytes + offset, size);
    return true;
  }
  while (done < size) {
    ssize_t n = pread(image->fd, (char *)out + done, size - done,
                      (off_t)(offset + done));

    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    done += (size_t)n;
  }
  return true;
}

bool sp_elf_image_read_vaddr(const sp_elf_image *image, uint64_t vaddr,
                             void *out, size_t size) {
  const sp_elf_segment *segment = elf_image_segment_of(image, vaddr);
  uint64_t inside;

  if (!segment || (segment->flags & PF_W))
    return false;
  inside = vaddr - segment->vaddr;
  return size <= segment->file_bytes - inside &&
         segment->offset <= UINT64_MAX - inside &&
         sp_elf_image_read(image, segment->offset + inside, out, size);
}

bool sp_elf_image_read_page(const sp_elf_image *image, uint64_t vaddr,
                            uint64_t page_vaddr, size_t page_bytes, void *out,
                            size_t *from, size_t *until) {
  const sp_elf_segment *segment = elf_image_segment_of(image, vaddr);
  uint64_t start, end;

  if (!segment || (segment->flags & PF_W))
    return false;
  start = sp_max_u64(page_vaddr, segment->vaddr);
  end =
      sp_min_u64(page_vaddr + page_bytes, segment->vaddr + segment->file_bytes);
  *from = (size_t)(start - page_vaddr);
  *until = (size_t)(end - page_vaddr);
  return sp_elf_image_read_vaddr(image, start, (char *)out + *from,
                                 *until - *from);
}

spanprof_status sp_elf_image_load(const sp_elf_image *image, uint64_t offset,
                                  uint64_t size, sp_elf_bytes *out) {
  *out = (sp_elf_bytes){0};
  if (!elf_image_inside(image, offset, size) || size == 0)
    return SPANPROF_ERR_FORMAT;
  if (image->fd < 0) {
    *out = (sp_elf_bytes){.data = image->bytes + offset, .size = (size_t)size};
    return SPANPROF_OK;
  }
  if (size > ELF_IMAGE_LOAD_MAX)
    return SPANPROF_ERR_LIMIT;
  /* These pages are mapped, not allocated, because hundreds of KB for a short
   * time would enlarge a heap permanently. */
  out->pages = sp_pages_new((size_t)size);
  if (!out->pages)
    return SPANPROF_ERR_NOMEM;
  out->data = out->pages;
  out->size = (size_t)size;
  if (!sp_elf_image_read(image, offset, out->pages, (size_t)size)) {
    sp_elf_bytes_dispose(out);
    return SPANPROF_ERR_IO;
  }
  return SPANPROF_OK;
}

void sp_elf_bytes_dispose(sp_elf_bytes *bytes) {
  sp_pages_free(bytes->pages, bytes->size);
  *bytes = (sp_elf_bytes){0};
}

bool sp_elf_image_section(const sp_elf_image *image, uint32_t index,
                          sp_elf_section *out) {
  Elf64_Shdr header;

  if (!elf_image_section_header(image, index, &header))
    return false;
  elf_image_section_view(&header, out);
  return true;
}

bool sp_elf_image_section_typed(const sp_elf_image *image, uint32_t type,
                                sp_elf_section *out) {
  uint32_t i;

  for (i = 1; sp_elf_image_section(image, i, out); i++)
    if (out->type == type)
      return true;
  return false;
}

bool sp_elf_image_section_named(const sp_elf_image *image, const char *name,
                                sp_elf_section *out) {
  sp_elf_section names;
  Elf64_Shdr header;
  uint32_t i;

  if (!sp_elf_image_section(image, image->names_section, &names))
    return false;
  for (i = 1; elf_image_section_header(image, i, &header); i++)
    if (elf_image_section_is(image, &names, header.sh_name, name)) {
      elf_image_section_view(&header, out);
      return true;
    }
  return false;
}

bool sp_elf_image_unwind(const sp_elf_image *image, sp_elf_unwind *out) {
  sp_elf_section section;
  size_t i;

  *out = (sp_elf_unwind){0};
  for (i = 0; i < image->segment_count; i++)
    if (image->segments[i].type == PT_GNU_EH_FRAME) {
      out->header_vaddr = image->segments[i].vaddr;
      out->header_size = image->segments[i].file_bytes;
    }
  /* A file that contains only debugging information has this section's header,
   * but not the section's bytes. */
  if (sp_elf_image_section_named(image, ".eh_frame", &section) &&
      section.size > 0) {
    out->vaddr = section.vaddr;
    out->offset = section.offset;
    out->size = section.size;
    return true;
  }
  return elf_image_unwind_by_header(image, out);
}

uint64_t sp_elf_segments_hash(const void *headers, size_t count) {
  return sp_hash_bytes(headers, count * sizeof(Elf64_Phdr));
}
