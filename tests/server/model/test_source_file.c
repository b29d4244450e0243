/* Only regular text files below the allowed directories are read. */
#include "server/model/source_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "failing_mem.h"

static char root[64], shop[96], other[96];

/* The result of a call is valid until the second call after it. */
static const char *in(const char *directory, const char *name) {
  static char paths[2][256];
  static int last;

  last = !last;
  snprintf(paths[last], sizeof paths[last], "%s/%s", directory, name);
  return paths[last];
}

static void put(const char *path, const char *text, size_t size) {
  FILE *file = fopen(path, "w");

  CHECK(file);
  CHECK_EQUAL(fwrite(text, 1, size, file), size);
  CHECK(!fclose(file));
}

/* Make the directories "shop" and "other", and the file "secret" outside. */
static void files_make(void) {
  static const char *const folders[] = {
      "shop",  "shop/models",  "shop/lib",      "shop/.git",
      "other", "other/models", "shop/folder.rb"};
  size_t i;

  snprintf(root, sizeof root, "/tmp/spanprof-source-XXXXXX");
  CHECK(mkdtemp(root));
  for (i = 0; i < SP_COUNT_OF(folders); i++)
    CHECK(!mkdir(in(root, folders[i]), 0700));
  snprintf(shop, sizeof shop, "%s/shop", root);
  snprintf(other, sizeof other, "%s/other", root);
  put(in(shop, "models/cart.rb"), "cart", 4);
  put(in(shop, "main.rb"), "main", 4);
  put(in(other, "cart.rb"), "short", 5);
  put(in(other, "models/tax.rb"), "tax", 3);
  put(in(root, "secret"), "secret", 6);
  put(in(shop, ".env"), "secret", 6);
  put(in(shop, ".git/config"), "secret", 6);
  put(in(shop, "binary.rb"), "a\0b", 3);
}

static void files_remove(void) {
  char command[128];

  snprintf(command, sizeof command, "rm -rf %s", root);
  CHECK(!system(command));
}

/* Check that `file` is found as `path` with this text. If `path` is NULL, check
 * that `file` is not found. */
static void check_file(const char *file, const char *path, const char *text) {
  const char *const directories[] = {other, shop};
  sp_source_file found;

  CHECK(!sp_source_file_find(&found, &sp_mem_default, directories, 2, file));
  if (!path) {
    CHECK(!found.path);
  } else {
    CHECK(found.path);
    CHECK_TEXT(found.path, path);
    CHECK_EQUAL(found.text.size, strlen(text));
    CHECK(memcmp(found.text.data, text, strlen(text)) == 0);
    CHECK(found.modified_ns > INT64_C(1500000000) * 1000000000);
  }
  sp_source_file_dispose(&found);
}

static void the_longest_end_of_the_path_is_found(void) {
  files_make();
  check_file("/app/models/cart.rb", "models/cart.rb", "cart");
  check_file("models/cart.rb", "models/cart.rb", "cart");
  check_file("/app/cart.rb", "cart.rb", "short");
  check_file("//app//models//tax.rb", "models//tax.rb", "tax");
  check_file("/srv/main.rb", "main.rb", "main");
  check_file(in(shop, "models/cart.rb"), "models/cart.rb", "cart");
  check_file("/app/models/gone.rb", NULL, NULL);
  check_file("/app/xcart.rb", NULL, NULL);
  check_file("", NULL, NULL);
  check_file("/", NULL, NULL);
  files_remove();
}

static void nothing_outside_is_read(void) {
  files_make();
  check_file("../secret", NULL, NULL);
  check_file("/app/../secret", NULL, NULL);
  check_file("/app/models/../../../secret", NULL, NULL);
  check_file(in(root, "secret"), NULL, NULL);
  check_file("/etc/passwd", NULL, NULL);
  CHECK(!symlink("../../secret", in(shop, "models/link.rb")));
  check_file("/app/models/link.rb", NULL, NULL);
  CHECK(!symlink(in(root, "secret"), in(shop, "absolute.rb")));
  check_file("/app/absolute.rb", NULL, NULL);
  CHECK(!symlink("../..", in(shop, "lib/up")));
  check_file("/app/lib/up/secret", NULL, NULL);
  CHECK(!symlink("/proc/self/root/etc/passwd", in(shop, "proc.rb")));
  check_file("/app/proc.rb", NULL, NULL);
  CHECK(!symlink("loop.rb", in(shop, "loop.rb")));
  check_file("/app/loop.rb", NULL, NULL);
  /* A link that stays below the directory is followed. */
  CHECK(!symlink("../models", in(shop, "lib/models")));
  check_file("/app/lib/models/cart.rb", "lib/models/cart.rb", "cart");
  files_remove();
}

static void hidden_files_are_not_read(void) {
  files_make();
  check_file("/app/.env", NULL, NULL);
  check_file("/app/.git/config", NULL, NULL);
  CHECK(!symlink(".env", in(shop, "env.rb")));
  check_file("/app/env.rb", NULL, NULL);
  CHECK(!symlink("../.git/config", in(shop, "lib/config")));
  check_file("/app/lib/config", NULL, NULL);
  files_remove();
}

static void only_regular_text_files_are_read(void) {
  files_make();
  check_file("/app/folder.rb", NULL, NULL);
  check_file("/app/binary.rb", NULL, NULL);
  CHECK(!mkfifo(in(shop, "fifo.rb"), 0600));
  check_file("/app/fifo.rb", NULL, NULL);
  CHECK(!symlink("/dev/zero", in(shop, "device.rb")));
  check_file("/app/device.rb", NULL, NULL);
  /* Only root can make a device. */
  if (!mknod(in(shop, "zero.rb"), S_IFCHR | 0600, makedev(1, 5)))
    check_file("/app/zero.rb", NULL, NULL);
  files_remove();
}

static void files_have_a_limit(void) {
  const size_t size = SP_SOURCE_BYTES_MAX + 1;
  char *text = malloc(size);

  CHECK(text);
  memset(text, 'x', size);
  text[size - 1] = '\0';
  files_make();
  put(in(shop, "large.rb"), text, size - 1);
  check_file("/app/large.rb", "large.rb", text);
  put(in(shop, "large.rb"), text, size);
  check_file("/app/large.rb", NULL, NULL);
  files_remove();
  free(text);
}

static void only_directories_below_the_root_are_accepted(void) {
  files_make();
  CHECK(sp_source_directory_is(shop));
  CHECK(!sp_source_directory_is("/"));
  CHECK(!sp_source_directory_is("/tmp/.."));
  CHECK(!sp_source_directory_is(""));
  CHECK(!sp_source_directory_is(in(shop, "main.rb")));
  CHECK(!sp_source_directory_is(in(shop, "gone")));
  files_remove();
}

static void find_scenario(const sp_mem *mem) {
  const char *const directories[] = {shop};
  sp_source_file found;
  const spanprof_status st =
      sp_source_file_find(&found, mem, directories, 1, "/app/models/cart.rb");

  CHECK(st == SPANPROF_ERR_NOMEM || (!st && found.path));
  sp_source_file_dispose(&found);
}

static void running_out_of_memory_returns_an_error(void) {
  files_make();
  failing_mem_sweep(find_scenario);
  files_remove();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"the_longest_end_of_the_path_is_found",
       the_longest_end_of_the_path_is_found},
      {"nothing_outside_is_read", nothing_outside_is_read},
      {"hidden_files_are_not_read", hidden_files_are_not_read},
      {"only_regular_text_files_are_read", only_regular_text_files_are_read},
      {"files_have_a_limit", files_have_a_limit},
      {"only_directories_below_the_root_are_accepted",
       only_directories_below_the_root_are_accepted},
      {"running_out_of_memory_returns_an_error",
       running_out_of_memory_returns_an_error},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
