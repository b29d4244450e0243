/* Builds a small ELF file with a build id and one symbol table. */
#ifndef ELF_BUILDER_H
#define ELF_BUILDER_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

#define ELF_BUILDER_BYTES   4096
#define ELF_BUILDER_SYMBOLS 16

typedef struct elf_builder {
  uint8_t bytes[ELF_BUILDER_BYTES];
  size_t size;
  Elf64_Sym symbols[ELF_BUILDER_SYMBOLS];
  size_t symbol_count;
  char names[512];
  size_t names_size;
} elf_builder;

static inline void elf_builder_symbol(elf_builder *file, const char *name,
                                      uint64_t start, uint64_t size) {
  CHECK(file->symbol_count < ELF_BUILDER_SYMBOLS);
  if (file->names_size == 0)
    file->names_size = 1; /* "" */
  file->symbols[file->symbol_count++] =
      (Elf64_Sym){.st_name = (Elf64_Word)file->names_size,
                  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                  .st_shndx = 1,
                  .st_value = start,
                  .st_size = size};
  CHECK(file->names_size + strlen(name) < sizeof file->names);
  memcpy(file->names + file->names_size, name, strlen(name) + 1);
  file->names_size += strlen(name) + 1;
}

static inline void elf_builder_put(elf_builder *file, const void *bytes,
                                   size_t size) {
  CHECK(file->size + size <= sizeof file->bytes);
  memcpy(file->bytes + file->size, bytes, size);
  file->size += size;
}

/* Finish the file. Its machine type is that of `machine_of`, the header of an
 * existing ELF file; `build_id` is in hex; `type` is SHT_SYMTAB or
 * SHT_DYNSYM. */
static inline void elf_builder_finish(elf_builder *file,
                                      const Elf64_Ehdr *machine_of,
                                      const char *build_id, uint32_t type) {
  const size_t id_size = strlen(build_id) / 2;
  Elf64_Ehdr header = *machine_of;
  Elf64_Phdr note = {.p_type = PT_NOTE, .p_align = 4};
  Elf64_Nhdr id = {4, (Elf64_Word)id_size, NT_GNU_BUILD_ID};
  Elf64_Shdr sections[3] = {
      {.sh_type = SHT_NULL},
      {.sh_type = type, .sh_link = 2, .sh_entsize = sizeof(Elf64_Sym)},
      {.sh_type = SHT_STRTAB}};
  size_t i;

  file->size = sizeof header + sizeof note;
  note.p_offset = file->size;
  note.p_filesz = note.p_memsz = sizeof id + 4 + id_size;
  elf_builder_put(file, &id, sizeof id);
  elf_builder_put(file, "GNU", 4);
  for (i = 0; i < id_size; i++) {
    unsigned byte;

    CHECK_EQUAL(sscanf(build_id + 2 * i, "%2x", &byte), 1);
    elf_builder_put(file, &(uint8_t){(uint8_t)byte}, 1);
  }
  file->size = (file->size + 7) & ~(size_t)7;
  sections[1].sh_offset = file->size;
  sections[1].sh_size = file->symbol_count * sizeof *file->symbols;
  elf_builder_put(file, file->symbols, sections[1].sh_size);
  sections[2].sh_offset = file->size;
  sections[2].sh_size = file->names_size;
  elf_builder_put(file, file->names, file->names_size);
  file->size = (file->size + 7) & ~(size_t)7;
  header.e_phoff = sizeof header;
  header.e_phnum = 1;
  header.e_shoff = file->size;
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  elf_builder_put(file, sections, sizeof sections);
  memcpy(file->bytes, &header, sizeof header);
  memcpy(file->bytes + sizeof header, &note, sizeof note);
}

#endif
