/* Reads the build id of a module, which linkers write as a note. */
#ifndef SP_ELF_NOTES_H
#define SP_ELF_NOTES_H

#include "elf_image.h"

/* Write the build id in lowercase hex, or "" if there is none. */
void sp_elf_image_build_id(const sp_elf_image *image,
                           char out[SP_ELF_BUILD_ID_SIZE]);

/* Write the build id that is in the notes of one PT_NOTE segment. Returns false
 * if they contain none. */
bool sp_elf_notes_build_id(const void *notes, size_t size,
                           char out[SP_ELF_BUILD_ID_SIZE]);

#endif
