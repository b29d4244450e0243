#include "elf_notes.h"

#include <elf.h>
#include <string.h>

#include "util/text/hex.h"

/* Maximum size of a module's notes, larger than in any linker's output. */
#define ELF_NOTES_MAX 4096

void sp_elf_image_build_id(const sp_elf_image *image,
                           char out[SP_ELF_BUILD_ID_SIZE]) {
  char notes[ELF_NOTES_MAX];
  size_t i;

  out[0] = '\0';
  for (i = 0; i < image->segment_count; i++) {
    const sp_elf_segment *segment = &image->segments[i];
    size_t size = (size_t)sp_min_u64(segment->file_bytes, sizeof notes);

    if (segment->type == PT_NOTE &&
        sp_elf_image_read(image, segment->offset, notes, size) &&
        sp_elf_notes_build_id(notes, size, out))
      return;
  }
}

bool sp_elf_notes_build_id(const void *notes, size_t size,
                           char out[SP_ELF_BUILD_ID_SIZE]) {
  const uint8_t *at = notes;
  Elf64_Nhdr note;

  out[0] = '\0';
  while (size >= sizeof note) {
    uint64_t name, text;

    memcpy(&note, at, sizeof note);
    at += sizeof note;
    size -= sizeof note;
    /* Notes are aligned to 4 in both ELF classes. The property note is aligned
     * to 8, but its sizes are multiples of 8. */
    name = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
    text = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
    if (name > size || text > size - name)
      return false;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        memcmp(at, "GNU", 4) == 0 && note.n_descsz > 0 &&
        note.n_descsz <= SP_ELF_BUILD_ID_SIZE / 2) {
      sp_hex_write(at + name, note.n_descsz, out);
      return true;
    }
    at += name + text;
    size -= (size_t)(name + text);
  }
  return false;
}
