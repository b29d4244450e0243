#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"
#include "failing_mem.h"
#include "unwind/elf/elf_image.h"
#include "unwind/elf/elf_notes.h"

/* Read this program's build id from its memory. */
static int note_of_program(struct dl_phdr_info *info, size_t size, void *data) {
  size_t i;

  (void)size;
  for (i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_NOTE &&
        sp_elf_notes_build_id(
            (const void *)(uintptr_t)(info->dlpi_addr +
                                      info->dlpi_phdr[i].p_vaddr),
            info->dlpi_phdr[i].p_filesz, data))
      break;
  return 1;
}

static void the_program_is_read(void) {
  char in_memory[SP_ELF_BUILD_ID_SIZE] = "", in_file[SP_ELF_BUILD_ID_SIZE];
  sp_elf_section text, none;
  sp_elf_unwind unwind;
  sp_elf_image image;

  CHECK_EQUAL(sp_elf_image_open(&image, "/proc/self/exe", &sp_mem_default),
              SPANPROF_OK);
  sp_elf_image_build_id(&image, in_file);
  dl_iterate_phdr(note_of_program, in_memory);
  CHECK_TEXT(in_file, in_memory);
  CHECK(sp_elf_image_section_named(&image, ".text", &text));
  CHECK(text.size > 0 && text.type == SHT_PROGBITS);
  CHECK(!sp_elf_image_section_named(&image, ".texts", &none));
  CHECK(sp_elf_image_unwind(&image, &unwind));
  CHECK(unwind.size > 0 && unwind.header_vaddr != 0);
  sp_elf_image_dispose(&image);
}

static void constants_are_read_by_address_and_variables_not(void) {
  static const char constant[] = "a constant of the program";
  static char variable[] = "a variable of the program";
  char read[sizeof constant];
  sp_elf_image image;
  uint64_t bias = 0;
  Dl_info info;

  CHECK(dladdr(constant, &info));
  bias = (uint64_t)(uintptr_t)info.dli_fbase;
  CHECK_EQUAL(sp_elf_image_open(&image, "/proc/self/exe", &sp_mem_default),
              SPANPROF_OK);
  if (image.segments[0].type == PT_PHDR && image.segments[0].vaddr > 0xffff)
    bias = 0; /* the program is not position-independent */
  CHECK(sp_elf_image_read_vaddr(&image, (uint64_t)(uintptr_t)constant - bias,
                                read, sizeof read));
  CHECK_TEXT(read, constant);
  CHECK(!sp_elf_image_read_vaddr(&image, (uint64_t)(uintptr_t)variable - bias,
                                 read, sizeof variable));
  CHECK(!sp_elf_image_read_vaddr(&image, UINT64_MAX - 4, read, 8));
  sp_elf_image_dispose(&image);
}

/* Remove the section headers of a file, as sstrip does. */
static void unwind_information_is_found_without_sections(void) {
  sp_elf_unwind with, without;
  sp_elf_image image;

  CHECK_EQUAL(sp_elf_image_open(&image, "/proc/self/exe", &sp_mem_default),
              SPANPROF_OK);
  CHECK(sp_elf_image_unwind(&image, &with));
  image.section_count = 0;
  CHECK(sp_elf_image_unwind(&image, &without));
  CHECK_EQUAL(without.vaddr, with.vaddr);
  CHECK_EQUAL(without.offset, with.offset);
  CHECK(without.size >= with.size);
  sp_elf_image_dispose(&image);
}

static void non_elf_files_are_refused(void) {
  sp_elf_image image;

  CHECK_EQUAL(sp_elf_image_open(&image, "/nowhere/at/all", &sp_mem_default),
              SPANPROF_ERR_IO);
  CHECK_EQUAL(sp_elf_image_open(&image, "/tmp", &sp_mem_default),
              SPANPROF_ERR_IO);
  CHECK_EQUAL(sp_elf_image_open(&image, "/dev/null", &sp_mem_default),
              SPANPROF_ERR_IO);
  CHECK_EQUAL(sp_elf_image_wrap(&image, "\177ELF", 4, &sp_mem_default),
              SPANPROF_ERR_FORMAT);
  sp_elf_image_dispose(&image); /* allowed after a failure */
}

/* Each header field is broken in turn. The file is refused or read, but never
 * beyond its end. */
static void a_broken_header_reads_nothing_outside(void) {
  char build_id[SP_ELF_BUILD_ID_SIZE];
  unsigned char bytes[4096];
  FILE *file = fopen("/proc/self/exe", "rb");
  size_t i, size;

  CHECK(file != NULL);
  size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  CHECK_EQUAL(size, sizeof bytes);
  for (i = 0; i < 1024; i++) {
    unsigned char *copy = malloc(size - i);
    sp_elf_image image;

    CHECK(copy != NULL);
    memcpy(copy, bytes, size - i);
    copy[16 + i % 1000] ^= 0xff;
    if (sp_elf_image_wrap(&image, copy, size - i, &sp_mem_default) ==
        SPANPROF_OK) {
      sp_elf_section section;
      sp_elf_unwind unwind;

      sp_elf_image_build_id(&image, build_id);
      (void)sp_elf_image_section_named(&image, ".eh_frame", &section);
      (void)sp_elf_image_unwind(&image, &unwind);
      sp_elf_image_dispose(&image);
    }
    free(copy);
  }
}

static void notes_are_searched_for_the_build_id(void) {
  static const struct {
    Elf64_Nhdr first;
    char first_name[4];
    char first_text[4];
    Elf64_Nhdr second;
    char second_name[4];
    unsigned char id[4];
  } notes = {{4, 3, 1}, "GNU",
             "ab",      {4, 4, NT_GNU_BUILD_ID},
             "GNU",     {0xde, 0xad, 0x00, 0x0f}};
  char out[SP_ELF_BUILD_ID_SIZE];

  CHECK(sp_elf_notes_build_id(&notes, sizeof notes, out));
  CHECK_TEXT(out, "dead000f");
  CHECK(!sp_elf_notes_build_id(&notes, sizeof notes - 1, out));
  CHECK_TEXT(out, "");
}

static void open_scenario(const sp_mem *mem) {
  sp_elf_image image;
  spanprof_status st = sp_elf_image_open(&image, "/proc/self/exe", mem);

  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  sp_elf_image_dispose(&image);
}

static void opening_survives_failed_allocations(void) {
  failing_mem_sweep(open_scenario);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"the_program_is_read", the_program_is_read},
      {"constants_are_read_by_address_and_variables_not",
       constants_are_read_by_address_and_variables_not},
      {"unwind_information_is_found_without_sections",
       unwind_information_is_found_without_sections},
      {"non_elf_files_are_refused", non_elf_files_are_refused},
      {"a_broken_header_reads_nothing_outside",
       a_broken_header_reads_nothing_outside},
      {"notes_are_searched_for_the_build_id",
       notes_are_searched_for_the_build_id},
      {"opening_survives_failed_allocations",
       opening_survives_failed_allocations},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
