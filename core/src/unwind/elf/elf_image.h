/* An ELF file on disk or in memory, with bounds-checked access. Files are read
 * with pread(), never mapped: if a mapped file is truncated, reading it raises
 * SIGBUS in the profiled process. */
#ifndef SP_ELF_IMAGE_H
#define SP_ELF_IMAGE_H

#include "util/memory/mem.h"

/* Size of a build id as text: hexadecimal digits for at most 32 bytes, and the
 * NUL. Linkers write 8 (fast), 16 (md5, uuid) or 20 (sha1) bytes. */
#define SP_ELF_BUILD_ID_SIZE 65

typedef struct sp_elf_segment {
  uint32_t type;
  uint32_t flags;
  uint64_t offset;
  uint64_t vaddr;
  uint64_t file_bytes;
  uint64_t memory_bytes;
} sp_elf_segment;

typedef struct sp_elf_section {
  uint32_t type;
  uint32_t link;
  uint64_t vaddr;
  uint64_t offset;
  uint64_t size;
  uint64_t item_bytes;
} sp_elf_section;

typedef struct sp_elf_image {
  const sp_mem *mem;
  int fd;               /* -1: the image is `bytes` */
  const uint8_t *bytes; /* borrowed */
  uint64_t size;
  sp_elf_segment *segments;
  size_t segment_count;
  uint64_t segments_hash; /* sp_elf_segments_hash() of the file's table */
  uint64_t sections_offset;
  uint32_t section_count;
  uint32_t names_section; /* index of the section with the sections' names */
} sp_elf_image;

/* Bytes of an image. They are borrowed if the image is in memory; otherwise
 * they are in pages that sp_elf_bytes_dispose() frees. */
typedef struct sp_elf_bytes {
  const uint8_t *data;
  size_t size;
  void *pages; /* NULL: the bytes are borrowed */
} sp_elf_bytes;

/* The place of a module's unwind information. */
typedef struct sp_elf_unwind {
  uint64_t vaddr; /* virtual address of .eh_frame */
  uint64_t offset;
  uint64_t size;
  /* Virtual address of .eh_frame_hdr; 0: there is none. */
  uint64_t header_vaddr;
  uint64_t header_size;
} sp_elf_unwind;

/* Open a file. Returns SPANPROF_ERR_IO if it cannot be opened or read,
 * SPANPROF_ERR_FORMAT if it is not an ELF file of this architecture, or
 * SPANPROF_ERR_NOMEM if there is no memory or no descriptor. After a failure
 * the caller may dispose of *image, but need not. */
spanprof_status sp_elf_image_open(sp_elf_image *image, const char *path,
                                  const sp_mem *mem);

/* Open an image in memory, whose bytes outlive it. Returns the statuses of
 * sp_elf_image_open(). */
spanprof_status sp_elf_image_wrap(sp_elf_image *image, const void *bytes,
                                  size_t size, const sp_mem *mem);

void sp_elf_image_dispose(sp_elf_image *image);

/* Read exactly `size` bytes at a file offset. */
bool sp_elf_image_read(const sp_elf_image *image, uint64_t offset, void *out,
                       size_t size);

/* Read exactly `size` bytes of a loaded, read-only segment. */
bool sp_elf_image_read_vaddr(const sp_elf_image *image, uint64_t vaddr,
                             void *out, size_t size);

/* Read as much of the page at `page_vaddr`, which contains `vaddr`, as its
 * segment covers: out[*from] to out[*until]. The segment must be loaded and
 * read-only. */
bool sp_elf_image_read_page(const sp_elf_image *image, uint64_t vaddr,
                            uint64_t page_vaddr, size_t page_bytes, void *out,
                            size_t *from, size_t *until);

/* Load a range of the file. Returns SPANPROF_ERR_FORMAT if the range is outside
 * the file, SPANPROF_ERR_LIMIT if it is larger than 256 MiB, SPANPROF_ERR_IO or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_elf_image_load(const sp_elf_image *image, uint64_t offset,
                                  uint64_t size, sp_elf_bytes *out);
void sp_elf_bytes_dispose(sp_elf_bytes *bytes);

bool sp_elf_image_section(const sp_elf_image *image, uint32_t index,
                          sp_elf_section *out);

/* Find the first section with this type, or with this name. Returns false if
 * there is none. */
bool sp_elf_image_section_typed(const sp_elf_image *image, uint32_t type,
                                sp_elf_section *out);
bool sp_elf_image_section_named(const sp_elf_image *image, const char *name,
                                sp_elf_section *out);

/* Find the unwind information. Returns false if there is none. */
bool sp_elf_image_unwind(const sp_elf_image *image, sp_elf_unwind *out);

/* A hash of a program header table in its ELF format. */
uint64_t sp_elf_segments_hash(const void *headers, size_t count);

#endif
