#include "stack_text.h"

/* A node whose children are being read. */
typedef struct trie_level {
  uint64_t left;   /* children that are not read yet */
  size_t key_size; /* size of the key without this node's name */
} trie_level;

/* The state of the reader of both formats: the current key, and the nodes on
 * the path from the root. */
typedef struct trie {
  sp_stack_list *list;
  sp_view remaining;
  sp_buffer key;
  trie_level *levels;
  size_t level_count, level_capacity;
  size_t key_bytes; /* total size of all keys so far */
} trie;

typedef struct trie_node {
  sp_view name;
  uint64_t value;
  uint64_t children;
} trie_node;

static spanprof_status trie_broken(trie *t, const char *what) {
  return sp_refuse(t->list->refusal, SP_REFUSAL_BROKEN, "%s", what);
}

static spanprof_status trie_number(trie *t, uint64_t *out) {
  const uint8_t *at = (const uint8_t *)t->remaining.bytes;
  const uint8_t *const begin = at, *const end = at + t->remaining.size;
  const sp_varint_result ends = sp_varint_get(&at, end, out);

  t->remaining = sp_view_of(at, t->remaining.size - (size_t)(at - begin));
  return ends == SP_VARINT_WHOLE
             ? SPANPROF_OK
             : trie_broken(t,
                           ends == SP_VARINT_CUT ? "EOF" : "varint overflow");
}

static spanprof_status trie_read(trie *t, trie_node *out) {
  spanprof_status st;
  uint64_t size;

  st = trie_number(t, &size);
  if (st)
    return st;
  if (size > t->remaining.size)
    return trie_broken(t, "unexpected EOF");
  out->name = sp_view_of(t->remaining.bytes, (size_t)size);
  t->remaining =
      sp_view_of(t->remaining.bytes + size, t->remaining.size - (size_t)size);
  st = trie_number(t, &out->value);
  return st ? st : trie_number(t, &out->children);
}

static spanprof_status trie_add(trie *t, uint64_t value) {
  char *copy;
  spanprof_status st;

  t->key_bytes += t->key.size;
  if (t->key_bytes > SP_STACK_KEYS_MAX)
    return sp_refuse(t->list->refusal, SP_REFUSAL_LARGE,
                     "the stacks have more than %zu MiB of names in all",
                     SP_STACK_KEYS_MAX >> 20);
  st = sp_raw_new(t->list->arena, t->key.size, 1, &copy, t->list->refusal);
  if (st)
    return st;
  if (t->key.size)
    memcpy(copy, t->key.data, t->key.size);
  return sp_stack_list_add_key(t->list, sp_view_of(copy, t->key.size), value);
}

/* Continue after a node: at its children or, if it has none, at the next level
 * above that has children left. */
static spanprof_status trie_move(trie *t, const trie_node *node,
                                 size_t key_size) {
  spanprof_status st;

  if (node->children) {
    st = sp_mem_reserve(t->list->arena->mem, (void **)&t->levels,
                        &t->level_capacity, t->level_count + 1,
                        sizeof *t->levels);
    if (!st)
      t->levels[t->level_count++] = (trie_level){node->children, key_size};
    return st;
  }
  t->key.size = key_size;
  while (t->level_count) {
    trie_level *level = &t->levels[t->level_count - 1];

    if (--level->left)
      break;
    t->key.size = level->key_size;
    t->level_count--;
  }
  return SPANPROF_OK;
}

static void trie_start(trie *t, sp_stack_list *list, sp_view bytes) {
  memset(t, 0, sizeof *t);
  t->list = list;
  t->remaining = bytes;
  sp_buffer_init(&t->key, list->arena->mem);
}

static spanprof_status trie_end(trie *t, spanprof_status st) {
  if (!st)
    st = sp_buffer_status(&t->key);
  sp_mem_free(t->list->arena->mem, t->levels);
  sp_buffer_dispose(&t->key);
  return st;
}

spanprof_status sp_stack_trie(sp_stack_list *list, sp_view bytes) {
  spanprof_status st = SPANPROF_OK;
  trie_node node;
  trie t;

  trie_start(&t, list, bytes);
  while (!st && t.remaining.size) {
    const size_t key_size = t.key.size;

    st = trie_read(&t, &node);
    if (st)
      break;
    sp_buffer_append(&t.key, node.name.bytes, node.name.size);
    if (node.value)
      st = trie_add(&t, node.value);
    if (!st)
      st = trie_move(&t, &node, key_size);
  }
  return trie_end(&t, st);
}

spanprof_status sp_stack_tree_read(sp_stack_list *list, sp_view bytes) {
  spanprof_status st = SPANPROF_OK;
  bool root = true;
  trie_node node;
  trie t;

  trie_start(&t, list, bytes);
  if (!bytes.size)
    st = trie_broken(&t, "EOF");
  while (!st && (root || t.level_count)) {
    const size_t key_size = t.key.size;

    st = trie_read(&t, &node);
    if (!st && node.name.size > SP_RAW_TEXT_MAX)
      st = trie_broken(&t, "a name of the tree is too long");
    if (!st && node.children > t.remaining.size)
      st = trie_broken(&t, "a node of the tree has too many children");
    if (st)
      break;
    if (!root) {
      if (t.level_count > 1)
        sp_buffer_append(&t.key, ";", 1);
      sp_buffer_append(&t.key, node.name.bytes, node.name.size);
    }
    if (node.value && t.key.size)
      st = trie_add(&t, node.value);
    if (!st)
      st = trie_move(&t, &node, key_size);
    root = false;
  }
  return trie_end(&t, st);
}
