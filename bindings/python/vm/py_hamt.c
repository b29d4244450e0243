#define Py_BUILD_CORE
#include "py_hamt.h"

#include <internal/pycore_context.h>
#include <internal/pycore_hamt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "py_prefetch.h"
#include "util/base.h"

/* Five bits of the 32-bit hash choose a child in each node. A trie therefore
 * has at most seven levels, and one more node for keys with equal hashes. */
#define HAMT_BITS  5
#define HAMT_DEPTH 8

/* Number of variables that the check sets. It is large enough that the trie has
 * bitmap nodes and array nodes: a bitmap node with more than 16 children
 * becomes an array node (Python/hamt.c). Collision nodes are not checked. */
#define HAMT_CHECK_VARS 400

/* The layouts of the nodes, which are private to Python/hamt.c. They are the
 * same in CPython 3.10 to 3.15. */
typedef struct hamt_bitmap {
  PyObject_VAR_HEAD uint32_t bitmap;
  PyObject *array[1]; /* pairs of key and value; if the key is NULL, the value
                         is a node */
} hamt_bitmap;

typedef struct hamt_array {
  PyObject_HEAD PyObject *array[1 << HAMT_BITS];
  Py_ssize_t count;
} hamt_array;

typedef struct hamt_collision {
  PyObject_VAR_HEAD int32_t hash;
  PyObject *array[1]; /* pairs */
} hamt_collision;

/* The types of contexts and nodes that py_sp_hamt_check() has found. Written
 * once, before `ready` becomes 1. Stored next to each other because the handler
 * reads them together. */
SP_HANDLER_DATA static struct {
  const PyTypeObject *context;
  const PyTypeObject *hamt;
  const PyTypeObject *bitmap;
  const PyTypeObject *array;
  _Atomic int ready;
} hamt;

/* Returns the 32-bit hash that Python/hamt.c computes from the hash of a
 * key. */
SP_HANDLER_CODE static uint32_t hamt_hash(Py_hash_t hash) {
  uint32_t folded = (uint32_t)hash ^ (uint32_t)((uint64_t)hash >> 32);

  return folded == UINT32_MAX ? UINT32_MAX - 1 : folded;
}

SP_HANDLER_CODE static int hamt_is(const void *object,
                                   const PyTypeObject *type) {
  return object && (uintptr_t)object % sizeof(void *) == 0 &&
         Py_TYPE((const PyObject *)object) == type;
}

SP_HANDLER_CODE static PyObject *
hamt_pairs_find(PyObject *const *pairs, Py_ssize_t count, const PyObject *key) {
  Py_ssize_t i;

  for (i = 0; i + 1 < count; i += 2)
    if (pairs[i] == key)
      return pairs[i + 1];
  return NULL;
}

/* Returns the number of bits that are set. Unlike __builtin_popcount(), this
 * reads no table, which would be in another page. Warren, Hacker's Delight, 2nd
 * edition, 5-1. */
SP_HANDLER_CODE static uint32_t bits_set(uint32_t word) {
  word -= word >> 1 & UINT32_C(0x55555555);
  word = (word & UINT32_C(0x33333333)) + (word >> 2 & UINT32_C(0x33333333));
  word = (word + (word >> 4)) & UINT32_C(0x0f0f0f0f);
  return word * UINT32_C(0x01010101) >> 24;
}

/* Returns the value of `key` if the node has it. Otherwise returns NULL, and
 * *next is the child node in which to search on, or NULL. */
SP_HANDLER_CODE static PyObject *hamt_bitmap_find(const hamt_bitmap *node,
                                                  uint32_t index,
                                                  const PyObject *key,
                                                  const PyObject **next) {
  uint32_t bit = UINT32_C(1) << index;
  Py_ssize_t i = 2 * bits_set(node->bitmap & (bit - 1));

  *next = NULL;
  if (!(node->bitmap & bit) || i + 1 >= Py_SIZE((const PyObject *)node))
    return NULL;
  if (!node->array[i])
    *next = node->array[i + 1];
  return node->array[i] == key ? node->array[i + 1] : NULL;
}

/* Returns the value of `key` in a collision node, or NULL. `node` is neither a
 * bitmap node nor an array node. */
SP_HANDLER_RARE static PyObject *hamt_collision_find(const PyObject *node,
                                                     const PyObject *key) {
  const hamt_collision *collision = (const hamt_collision *)node;

  if (strcmp(Py_TYPE(node)->tp_name, "hamt_collision_node") != 0)
    return NULL;
  return hamt_pairs_find(collision->array, Py_SIZE(node), key);
}

SP_HANDLER_CODE static PyObject *hamt_find(const PyObject *node,
                                           const PyObject *key, uint32_t hash) {
  int depth;

  for (depth = 0; depth < HAMT_DEPTH && node; depth++) {
    uint32_t index = hash & ((1u << HAMT_BITS) - 1);

    hash >>= HAMT_BITS;
    if (hamt_is(node, hamt.bitmap)) {
      const PyObject *next;
      PyObject *value =
          hamt_bitmap_find((const hamt_bitmap *)node, index, key, &next);

      if (value)
        return value;
      node = next;
    } else if (hamt_is(node, hamt.array)) {
      node = ((const hamt_array *)node)->array[index];
    } else {
      return (uintptr_t)node % sizeof(void *) ? NULL
                                              : hamt_collision_find(node, key);
    }
  }
  return NULL;
}

SP_HANDLER_CODE static PyObject *hamt_thread_find(const PyThreadState *tstate,
                                                  const PyObject *var,
                                                  Py_hash_t var_hash) {
  const PyContext *context = (const PyContext *)tstate->context;
  const PyHamtObject *vars;
  PyObject *value;

  py_sp_prefetch_note(tstate, context);
  if (!hamt_is(context, hamt.context))
    return NULL;
  vars = context->ctx_vars;
  py_sp_prefetch_note(tstate, vars);
  if (!hamt_is(vars, hamt.hamt))
    return NULL;
  py_sp_prefetch_note(tstate, vars->h_root);
  value = hamt_find((const PyObject *)vars->h_root, var, hamt_hash(var_hash));
  py_sp_prefetch_note(tstate, value);
  return value;
}

/* Set *out to the type of the root node of the current context's trie. Returns
 * whether the type has the name `name`. */
static int hamt_type_learn(const char *name, const PyTypeObject **out) {
  const PyContext *context = (const PyContext *)PyThreadState_Get()->context;

  if (!hamt_is(context, &PyContext_Type) || !context->ctx_vars)
    return 0;
  hamt.context = &PyContext_Type;
  hamt.hamt = Py_TYPE((PyObject *)context->ctx_vars);
  if (strcmp(hamt.hamt->tp_name, "hamt") != 0 || !context->ctx_vars->h_root)
    return 0;
  *out = Py_TYPE((PyObject *)context->ctx_vars->h_root);
  return strcmp((*out)->tp_name, name) == 0;
}

/* Returns whether hamt_thread_find() finds the values of the first `count`
 * variables, and none for the others. */
static int hamt_vars_found(PyObject *const *vars, PyObject *const *values,
                           int count) {
  int i;

  for (i = 0; i < HAMT_CHECK_VARS; i++) {
    PyObject *expected = i < count ? values[i] : NULL;

    if (hamt_thread_find(PyThreadState_Get(), vars[i],
                         PyObject_Hash(vars[i])) != expected)
      return 0;
  }
  return 1;
}

/* Create a variable with its own name. CPython computes a variable's hash from
 * its name and its address. With equal names, many hashes could be equal,
 * because allocators return addresses of which some bits are always the
 * same. */
static PyObject *hamt_var_new(int number) {
  char name[32];

  snprintf(name, sizeof name, "spanprof_check_%d", number);
  return PyContextVar_New(name, NULL);
}

/* Set the variables one after the other in the current context, which is empty,
 * and check at several sizes that all are found. Returns NULL, or one sentence
 * that describes the difference. */
static const char *hamt_vars_check(PyObject *const *vars,
                                   PyObject *const *values) {
  int i;

  for (i = 0; i < HAMT_CHECK_VARS; i++) {
    PyObject *token = PyContextVar_Set(vars[i], values[i]);

    if (!token)
      return "not enough memory to check contextvars";
    Py_DECREF(token);
    if (i == 0 && !hamt_type_learn("hamt_bitmap_node", &hamt.bitmap))
      return "this CPython stores the variables of a context in an unknown "
             "layout";
    if (i + 1 == HAMT_CHECK_VARS &&
        !hamt_type_learn("hamt_array_node", &hamt.array))
      return "this CPython stores many variables of a context in an unknown "
             "layout";
    if ((i < 16 || i + 1 == HAMT_CHECK_VARS) &&
        !hamt_vars_found(vars, values, i + 1))
      return "this CPython does not store the variables of a context as its "
             "headers describe";
  }
  return NULL;
}

/* Call hamt_vars_check() in a new context. Returns NULL, or one sentence that
 * describes the failure. */
static const char *hamt_context_check(PyObject *const *vars,
                                      PyObject *const *values) {
  PyObject *context = PyContext_New();
  const char *reason;

  if (!context || PyContext_Enter(context) < 0) {
    Py_XDECREF(context);
    return "contextvars could not be checked: entering a new context failed";
  }
  reason = hamt_vars_check(vars, values);
  if (PyContext_Exit(context) < 0 && !reason)
    reason = "contextvars could not be checked: leaving the new context failed";
  Py_DECREF(context);
  return reason;
}

SP_HANDLER_CODE PyObject *py_sp_hamt_find(const PyThreadState *tstate,
                                          const PyObject *var,
                                          Py_hash_t var_hash) {
  if (!atomic_load_explicit(&hamt.ready, memory_order_acquire))
    return NULL;
  return hamt_thread_find(tstate, var, var_hash);
}

const char *py_sp_hamt_check(void) {
  PyObject *vars[HAMT_CHECK_VARS] = {NULL}, *values[HAMT_CHECK_VARS] = {NULL};
  const char *reason = NULL;
  int i;

  if (atomic_load_explicit(&hamt.ready, memory_order_relaxed))
    return NULL;
  for (i = 0; i < HAMT_CHECK_VARS && !reason; i++) {
    vars[i] = hamt_var_new(i);
    values[i] = PyFloat_FromDouble(i);
    if (!vars[i] || !values[i])
      reason = "not enough memory to check contextvars";
  }
  if (!reason)
    reason = hamt_context_check(vars, values);
  for (i = 0; i < HAMT_CHECK_VARS; i++) {
    Py_XDECREF(vars[i]);
    Py_XDECREF(values[i]);
  }
  PyErr_Clear();
  if (!reason)
    atomic_store_explicit(&hamt.ready, 1, memory_order_release);
  return reason;
}
