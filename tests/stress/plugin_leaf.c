/* The shared library that dlopen_malloc.c loads and unloads. */
int plugin_leaf_work(int rounds);

int plugin_leaf_work(int rounds) {
  volatile int x = 0;
  int i;

  for (i = 0; i < rounds; i++)
    x += i;
  return x;
}
