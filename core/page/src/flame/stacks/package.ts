/** Derives a function's package and kind from its name and file. */

export const KINDS = ["interpreted", "interpreter", "native", "gc", "kernel", "note"] as const;
export type Kind = (typeof KINDS)[number];

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  interpreted: "Ruby, Python",
  interpreter: "interpreter",
  native: "native",
  gc: "garbage collection",
  kernel: "kernel",
  note: "missing stacks",
};

const GC = /^\(garbage collection\)$|^\[?gc\]?$|^(rb_|_?Py_?|ruby_)?gc_|^_?PyGC|^rb_objspace/i;
const KERNEL_FILE = /^\[?kernel|^\[vdso\]$|^\[vsyscall\]$|\/vmlinux|\.ko(\.\w+)?$|^\[guest/;
const SCRIPT_FILE = /\.(rb|py|pyx|erb|rake|ru|haml|slim|gemspec|jbuilder)$|^<(frozen|string|stdin|internal:|ipython|attrs|__array)/;
const INTERPRETER_FILE = /(^|\/)(lib)?(ruby|python)[-0-9.]*(\.so[0-9.]*|dm?)?$/;

/** Removes the middle of long texts, which bounds the time of the patterns. */
function bounded(text: string): string {
  return text.length > 1000 ? text.slice(0, 500) + text.slice(-500) : text;
}

export function kindOf(fullName: string, fullFile: string): Kind {
  const name = bounded(fullName);
  const file = bounded(fullFile);

  if (GC.test(name))
    return "gc";
  if (KERNEL_FILE.test(file) || name.endsWith("_[k]") || KERNEL_FILE.test(name))
    return "kernel";
  if (SCRIPT_FILE.test(file))
    return "interpreted";
  if (/^\[.*\]$|^\(.*\)$/s.test(name))
    return "note";
  return INTERPRETER_FILE.test(file) ? "interpreter" : "native";
}

/** Patterns for the packages of gems, Python packages and shared objects. */
const GEM = /\/(?:bundler\/)?gems\/([^/]+?)-(?:\d[^/-]*(?:-[a-z][^/]*)?|[0-9a-f]{12})\//;
const PYTHON_PACKAGE = /\/(?:site|dist)-packages\/([^/]+?)(?:\.(?:py|pyx|[^/]*so))?(?:\/|$)/;
const RUBY_LIBRARY = /\/(?:lib\/ruby|rubylibdir|ruby)\/\d+\.\d+\.\d+\/|^<internal:/;
const PYTHON_LIBRARY = /\/lib\/python\d+(?:\.\d+)?\/|^<frozen /;
const OBJECT = /(?:^|\/)([^/]+?)(?:\.cpython-[^/]*)?\.so(?:\.[0-9.]+)?$/;
const OBJECT_VERSION = /-\d[\d.]*$/;

/** The package that determines a frame's colour: "rack", "libssl", "app/models"; "" if unknown. */
export function packageOf(name: string, fullFile: string): string {
  const file = bounded(fullFile);

  if (file === "")
    return /^\[.*\]$|^\(.*\)$/s.test(bounded(name)) ? name : "";
  const packaged = GEM.exec(file) ?? PYTHON_PACKAGE.exec(file);
  if (packaged)
    return packaged[1]!;
  if (RUBY_LIBRARY.test(file))
    return "Ruby standard library";
  if (PYTHON_LIBRARY.test(file))
    return "Python standard library";
  const object = OBJECT.exec(file);
  if (object)
    return object[1]!.replace(OBJECT_VERSION, "");
  const parts = file.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 1 ? parts[0]! : parts.slice(-3, -1).join("/");
}
