/* Protocol: `lock` guards the table. It is held for short times, and no thread
 * waits for the GIL while it holds the lock. */
#include "py_functions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "unwind/module_list.h"
#include "util/memory/hash_index.h"

#define FUNCTION_NAME_BYTES_MAX 512

/* The number of a function consists of this flag and the address of its code.
 * The ids of code objects do not have the flag (py_record.c). */
#define FUNCTION_FLAG (UINT64_C(1) << 63)

/* Maximum depth of the tree of types that is read. */
#define FUNCTION_DEPTH_MAX 64

typedef struct function_entry {
  uint64_t start; /* address of the code */
  const char *name;
  uint32_t owner;  /* offset in `owners` of the text before the name */
  uint8_t several; /* the function has several names or is METH_COEXIST, so
                    * it gets no name */
} function_entry;

static struct {
  pthread_mutex_t lock;
  const sp_mem *mem;
  function_entry *entries;
  size_t count;
  size_t capacity;
  sp_index index; /* the entries by `start` */
  char *owners;   /* NUL-terminated texts: "zlib.", "re.Pattern.", "" */
  size_t owner_bytes;
  size_t owner_capacity;
} functions = {.lock = PTHREAD_MUTEX_INITIALIZER, .mem = &sp_mem_paged};

static _Atomic uint64_t functions_version;

/* The dict sys.modules, and its number of modules at the last
 * py_sp_functions_read(). The reference is never released, because another
 * thread may read the dict without the GIL. */
static _Atomic(PyDictObject *) functions_modules;
static _Atomic Py_ssize_t functions_modules_read;

typedef struct function_scan {
  sp_module_list modules;
  const char *directory;
  uint32_t interpreter; /* number of the interpreter's module */
  uint32_t known; /* number of the lib-dynload module that was found last */
  PyObject *subclasses; /* type.__subclasses__ */
} function_scan;

/* Returns whether an address is in the interpreter or in a module of
 * lib-dynload. */
static bool scan_owns(function_scan *scan, const void *address) {
  const sp_mapping *mapping =
      sp_module_list_find(&scan->modules, (uint64_t)(uintptr_t)address);
  const size_t bytes = strlen(scan->directory);
  const char *path;

  if (!mapping)
    return false;
  if (mapping->module == scan->interpreter || mapping->module == scan->known)
    return true;
  path = sp_module_list_get(&scan->modules, mapping->module)->view.path;
  if (bytes == 0 || strncmp(path, scan->directory, bytes) != 0 ||
      path[bytes] != '/')
    return false;
  scan->known = mapping->module;
  return true;
}

static uint64_t start_hash(uint64_t start) {
  return sp_hash_mix(SP_HASH_SEED, start);
}

/* Returns the entry with this address, or NULL. The caller holds the lock. */
static function_entry *entry_find(uint64_t start) {
  const uint64_t hash = start_hash(start);
  uint32_t at, number = sp_index_first(&functions.index, hash, &at);

  while (number != SP_INDEX_NONE && functions.entries[number].start != start)
    number = sp_index_next(&functions.index, hash, &at);
  return number == SP_INDEX_NONE ? NULL : &functions.entries[number];
}

/* Add a text to `owners`. Returns its offset, or UINT32_MAX if there is no
 * memory. The caller holds the lock. */
static uint32_t owner_add(const char *owner) {
  const size_t at = functions.owner_bytes, bytes = strlen(owner) + 1;

  if (sp_mem_reserve(functions.mem, (void **)&functions.owners,
                     &functions.owner_capacity, at + bytes, 1))
    return UINT32_MAX;
  memcpy(functions.owners + at, owner, bytes);
  functions.owner_bytes += bytes;
  return (uint32_t)at;
}

/* Add the functions of a table of methods, which ends with an entry without a
 * name. The caller holds the lock. */
static void methods_add(function_scan *scan, const PyMethodDef *method,
                        const char *owner) {
  uint32_t own = UINT32_MAX;

  for (; scan_owns(scan, method) && method->ml_name; method++) {
    const uint64_t start = (uint64_t)(uintptr_t)method->ml_meth;
    const bool coexists = method->ml_flags & METH_COEXIST;
    function_entry *entry = entry_find(start);

    if (entry) {
      entry->several |= coexists || strcmp(entry->name, method->ml_name) != 0 ||
                        strcmp(functions.owners + entry->owner, owner) != 0;
      continue;
    }
    if (!scan_owns(scan, (const void *)(uintptr_t)start) ||
        !scan_owns(scan, method->ml_name))
      continue;
    if (own == UINT32_MAX)
      own = owner_add(owner);
    if (own == UINT32_MAX ||
        sp_index_reserve(&functions.index, functions.mem) ||
        sp_mem_reserve(functions.mem, (void **)&functions.entries,
                       &functions.capacity, functions.count + 1,
                       sizeof *functions.entries))
      return;
    sp_index_add(&functions.index, start_hash(start),
                 (uint32_t)functions.count);
    functions.entries[functions.count++] =
        (function_entry){.start = start,
                         .name = method->ml_name,
                         .owner = own,
                         .several = coexists};
  }
}

/* Add the functions of `name`, a module or a type. Nothing is added if the name
 * is too long. The caller holds the lock. */
static void owner_read(function_scan *scan, const PyMethodDef *methods,
                       const char *name) {
  static const char builtins[] = "builtins";
  char owner[256];

  if (!methods || !name)
    return;
  if (strcmp(name, builtins) == 0)
    methods_add(scan, methods, "");
  else if ((size_t)snprintf(owner, sizeof owner, "%s.", name) < sizeof owner)
    methods_add(scan, methods, owner);
}

static void modules_read(function_scan *scan) {
  PyObject *modules = PyImport_GetModuleDict(), *name, *module;
  Py_ssize_t at = 0;

  if (!modules || !PyDict_Check(modules))
    return;
  if (atomic_load(&functions_modules) != (PyDictObject *)modules)
    atomic_store(&functions_modules, (PyDictObject *)Py_NewRef(modules));
  atomic_store(&functions_modules_read, PyDict_GET_SIZE(modules));
  while (PyDict_Next(modules, &at, &name, &module)) {
    const PyModuleDef *definition =
        PyModule_Check(module) ? PyModule_GetDef(module) : NULL;

    /* If sys.modules contains a module under several names, its functions have
     * several names, too. */
    if (definition && PyUnicode_Check(name))
      owner_read(scan, definition->m_methods, PyUnicode_AsUTF8(name));
  }
  PyErr_Clear();
}

/* Read a type and the types derived from it. A class of Python code has no
 * table of methods, and types of C code are not derived from such a class. */
static void types_read(function_scan *scan, PyTypeObject *type,
                       unsigned depth) {
  PyObject *list;
  Py_ssize_t i;

  owner_read(scan, type->tp_methods, type->tp_name);
  if (depth == FUNCTION_DEPTH_MAX ||
      ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) && !type->tp_methods))
    return;
  list = PyObject_CallOneArg(scan->subclasses, (PyObject *)type);
  if (!list || !PyList_Check(list))
    PyErr_Clear();
  else
    for (i = 0; i < PyList_GET_SIZE(list); i++)
      if (PyType_Check(PyList_GET_ITEM(list, i)))
        types_read(scan, (PyTypeObject *)PyList_GET_ITEM(list, i), depth + 1);
  Py_XDECREF(list);
}

/* Read all functions. Disables the garbage collector until the end, because the
 * allocation of a list can start the collector, which may run Python code. */
static void all_read(function_scan *scan) {
  const int collects = PyGC_Disable();

  scan->subclasses =
      PyObject_GetAttrString((PyObject *)&PyType_Type, "__subclasses__");
  pthread_mutex_lock(&functions.lock);
  modules_read(scan);
  if (scan->subclasses)
    types_read(scan, &PyBaseObject_Type, 0);
  pthread_mutex_unlock(&functions.lock);
  PyErr_Clear();
  Py_XDECREF(scan->subclasses);
  if (collects)
    PyGC_Enable();
}

void py_sp_functions_read(uint64_t eval, const char *directory) {
  function_scan scan = {.directory = directory};
  const size_t count = functions.count;
  const sp_mapping *mapping = NULL;

  sp_module_list_init(&scan.modules, &sp_mem_paged);
  if (!sp_module_list_refresh(&scan.modules))
    mapping = sp_module_list_find(&scan.modules, eval);
  if (mapping) {
    scan.interpreter = mapping->module;
    all_read(&scan);
  }
  sp_module_list_dispose(&scan.modules);
  if (functions.count != count)
    atomic_fetch_add(&functions_version, 1);
}

bool py_sp_functions_outdated(void) {
  const PyDictObject *modules = atomic_load(&functions_modules);

  return !modules || __atomic_load_n(&modules->ma_used, __ATOMIC_RELAXED) !=
                         atomic_load(&functions_modules_read);
}

uint64_t py_sp_functions_version(void) {
  return atomic_load(&functions_version);
}

uint64_t py_sp_functions_find(uint64_t start) {
  const function_entry *entry;
  bool named;

  pthread_mutex_lock(&functions.lock);
  entry = entry_find(start);
  named = entry && !entry->several;
  pthread_mutex_unlock(&functions.lock);
  return named ? start | FUNCTION_FLAG : 0;
}

bool py_sp_functions_is(uint64_t number) {
  return number & FUNCTION_FLAG;
}

/* If a function has got a second name since py_sp_functions_find() returned its
 * number, the number keeps the first name. */
spanprof_status py_sp_functions_name(uint64_t number, spanprof_name *out) {
  static char name[FUNCTION_NAME_BYTES_MAX];
  const function_entry *entry;

  pthread_mutex_lock(&functions.lock);
  entry = entry_find(number & ~FUNCTION_FLAG);
  if (entry)
    snprintf(name, sizeof name, "%s%s", functions.owners + entry->owner,
             entry->name);
  pthread_mutex_unlock(&functions.lock);
  if (!entry)
    return SPANPROF_ERR_STATE;
  out->function = name;
  out->function_bytes = strlen(name);
  return SPANPROF_OK;
}

static void functions_before_fork(void) {
  pthread_mutex_lock(&functions.lock);
}

static void functions_after_fork_parent(void) {
  pthread_mutex_unlock(&functions.lock);
}

static void functions_after_fork_child(void) {
  pthread_mutex_init(&functions.lock, NULL);
}

int py_sp_functions_init(void) {
  if (pthread_atfork(functions_before_fork, functions_after_fork_parent,
                     functions_after_fork_child) == 0)
    return 0;
  PyErr_NoMemory();
  return -1;
}
