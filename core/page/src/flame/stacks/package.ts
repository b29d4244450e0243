/** Derives a function's package and kind from its name and file. */
import { placeOfFile, type CodePlace } from "./code_place.ts";

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
const NOTE = /^\[.*\]$|^\([^()]*\)$/s;

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
  if (NOTE.test(name))
    return "note";
  return INTERPRETER_FILE.test(file) ? "interpreter" : "native";
}

const LIBRARY_NAMES: Readonly<Record<string, string>> = { ruby: "Ruby standard library", python: "Python standard library", go: "Go standard library", rust: "Rust standard library" };

/** "libz" for "libz.so.1", "libruby" for "libruby-3.1.so.3.1". */
function moduleName(file: string): string {
  return file.replace(/(?:\.cpython-[^/]*)?\.(?:so(?:\.[0-9.]+)?|dylib|bundle)$/, "").replace(/-\d[\d.]*$/, "");
}

/** The class, namespace or package in a function's name; the name itself if there is none. */
function groupOfName(name: string): string {
  if (!/[:#./`(< ]/.test(name))
    return name;
  const [module, inModule] = name.split("`", 2) as [string, string?];
  const plain = name.replace(/^block .{0,20}?in |^\(anonymous namespace\)::/, "").replace(/[(<].*$/s, "").replace(/^.* /s, "");
  const slash = plain.lastIndexOf("/");
  const [head] = /^[^#]*?(?=::|#)/.exec(plain) ?? [];
  const dot = slash < 0 ? plain.lastIndexOf(".") : plain.indexOf(".", slash);

  if (inModule !== undefined)
    return moduleName(module);
  return (head ?? (dot > 0 ? plain.slice(0, dot) : plain)) || name;
}

/** The name of a place's package without its version: "rack", "flask", "libssl". */
function packageOfPlace({ kind, package: name, short }: CodePlace, file: string): string {
  switch (kind) {
    case "package":
      return name === "bin" ? short.slice("bin/".length)
        : name.replace(/^(?:gem|crate) |^(?:site|dist)-packages\/|^(?:vendor_ruby|node_modules)\//, "")
          .replace(/^([^/]+?)-(?:\d[^/-]*(?:-[a-z][^/]*)?|[0-9a-f]{12})$|@[^@/]*$/, "$1");
    case "library": return LIBRARY_NAMES[name.replace(/ .*$/, "")] ?? name;
    case "module": return moduleName(name);
    case "program": return name;
    default: {
      const parts = file.split("/").filter((part) => part !== "" && part !== ".");
      return parts.length === 1 ? parts[0]! : parts.slice(-3, -1).join("/");
    }
  }
}

/** The package that determines a frame's colour: "rack", "libssl", "app/models"; for code
 * without a file, the class or namespace in its name. */
export function packageOf(fullName: string, fullFile: string): string {
  const file = bounded(fullFile);

  if (file !== "")
    return packageOfPlace(placeOfFile(file), file);
  const name = bounded(fullName);
  return NOTE.test(name) ? moduleName(name.replace(/^\[(.*\.so.*)\]$/s, "$1")) : groupOfName(name);
}
