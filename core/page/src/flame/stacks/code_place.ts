/** Whose code a file contains, and the short path of the file. test/code_place/cases.tsv
 * lists cases, which `spanprof report` handles in the same way. */
import type { Functions } from "../../model/tree.ts";

/** application: a source file of the program; program: an executable; package: a gem, a
 * Python package or another dependency; library: the standard library of a language;
 * module: a shared object, the interpreter or the kernel; none: no file. */
export type PlaceKind = "application" | "program" | "package" | "library" | "module" | "none";

export interface CodePlace {
  readonly kind: PlaceKind;
  /** "gem rack-2.2.8", "site-packages/flask", "libc.so.6"; "" for a source file of the
   * program and without a file. */
  readonly package: string;
  readonly short: string;
}

/** Longer paths lose their middle, which bounds the time of the patterns. */
const PATH_MAX = 1000;

const INTERPRETER = /(?:^|\/)(?:lib)?(?:ruby|python)[-0-9.]*(?:\.so[0-9.]*|dm?)?$/;
const MODULE = /\.(?:so(?:\.[0-9.]+)?|dylib|bundle|ko(?:\.\w+)?)$|^\[|\/vmlinux/;
const SCRIPT_OF_PACKAGE = /^(?:\/usr(?:\/local)?)?\/s?bin\/([^/]+)$|\/(?:bundle|[^/]*env|versions\/[^/]+)\/bin\/([^/]+)$/;
const OWN_TEXT = /^<(?:string|stdin|console|ipython)/;
/** The ending of a Python package that is one file. */
const FILE_ENDING = /\.(?:py|pyx|rb|[^/]*so)$/;

/** The folders of packages and standard libraries. The first group is the name of the
 * package, and the second one the path inside the package. */
const FOLDERS: readonly (readonly [pattern: RegExp, kind: PlaceKind, label: string])[] = [
  [/^.*\/gems\/([^/]+-(?:\d[^/]*|[0-9a-f]{12}))\/(.*)$/s, "package", "gem "],
  [/^.*\/site-packages\/([^/]+)\/?(.*)$/s, "package", "site-packages/"],
  [/^.*\/dist-packages\/([^/]+)\/?(.*)$/s, "package", "dist-packages/"],
  [/^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\/?(.*)$/s, "package", "node_modules/"],
  [/^.*\/pkg\/mod\/([^@]+@[^/]+)\/?(.*)$/s, "package", ""],
  [/^.*\/registry\/src\/[^/]+\/([^/]+)\/(.*)$/s, "package", "crate "],
  [/^.*\/(?:site_|vendor_)?ruby\/(\d+\.\d+\.\d+[^/]*)\/(.*)$/s, "library", "ruby "],
  [/^.*\/vendor_ruby\/([^/]+)\/?(.*)$/s, "package", "vendor_ruby/"],
  [/^.*\/lib(?:64|32)?\/python(\d+\.\d+t?)\/(.*)$/s, "library", "python "],
  [/^\/rustc\/()[^/]+\/(.*)$/s, "library", "rust"],
  [/^(?:\/usr\/local\/go|.*\/go-[\d.]+)\/()src\/(.*)$/s, "library", "go"],
];

/** Code that has no path: "<internal:kernel>", "(eval)", "[vdso]", "-e", "embed". */
function withoutPath(file: string): CodePlace | null {
  const [head] = file;

  if (file === "")
    return { kind: "none", package: "", short: "" };
  if (file.startsWith("node:"))
    return { kind: "library", package: "node", short: file };
  if (head === "(" || file === "-e" || OWN_TEXT.test(file))
    return { kind: "application", package: "", short: file };
  if (head !== "<")
    return null;
  return { kind: "library", package: file.startsWith("<internal:") ? "ruby" : file.startsWith("<frozen ") ? "python" : file, short: file };
}

function inFolder(file: string): CodePlace | null {
  for (const [pattern, kind, label] of FOLDERS) {
    const found = pattern.exec(file);
    if (found) {
      const [, name = "", inside = ""] = found;
      return {
        kind, package: label + (inside === "" ? name.replace(FILE_ENDING, "").replace(/\.cpython-[^/]*$/, "") : name),
        short: label + name + (inside === "" ? "" : `/${inside}`),
      };
    }
  }
  return null;
}

/** The place of a file; the short path of a source file of the program is the path itself. */
export function placeOfFile(full: string): CodePlace {
  const file = full.length > PATH_MAX ? full.slice(0, PATH_MAX / 2) + full.slice(-PATH_MAX / 2) : full;
  const found = withoutPath(file) ?? inFolder(file);
  const base = file.slice(file.lastIndexOf("/") + 1);

  if (found)
    return found;
  if (file.startsWith("/usr/include/"))
    return { kind: "library", package: "/usr/include", short: file };
  if (MODULE.test(file) || INTERPRETER.test(file))
    return { kind: "module", package: base, short: file };
  if (SCRIPT_OF_PACKAGE.test(file))
    return { kind: "package", package: "bin", short: `bin/${base}` };
  if (base === file && !file.includes("."))
    return { kind: "program", package: file, short: file };
  return { kind: "application", package: "", short: file.replace(/^\.\//, "") };
}

/** The folder that contains all absolute paths, with its last slash; "" if there is none. */
function commonFolder(paths: readonly string[]): string {
  let common: string | null = null;

  for (const path of paths) {
    if (!path.startsWith("/"))
      continue;
    common ??= path.slice(0, path.lastIndexOf("/") + 1);
    while (!path.startsWith(common))
      common = common.slice(0, common.lastIndexOf("/", common.length - 2) + 1);
  }
  return common === null || common === "/" ? "" : common;
}

/** The places of the files of one profile. */
export class CodePlaces {
  private readonly places = new Map<string, CodePlace>();
  /** The kind of the program's own code. */
  private readonly ownKind: PlaceKind;

  constructor(files: Iterable<string>) {
    const own: string[] = [];

    for (const file of files)
      if (!this.places.has(file)) {
        const place = placeOfFile(file);
        this.places.set(file, place);
        if (place.kind === "application")
          own.push(file);
      }
    this.ownKind = own.length > 0 ? "application" : "program";
    const folder = commonFolder(own);
    if (folder !== "")
      for (const file of own)
        if (file.startsWith(folder))
          this.places.set(file, { kind: "application", package: "", short: file.slice(folder.length) });
  }

  of(file: string): CodePlace {
    return this.places.get(file) ?? placeOfFile(file);
  }

  /** Whether some files are the program's own code, and others are not. */
  get hasForeign(): boolean {
    const files = [...this.places.keys()];

    return files.some((file) => this.isOwn(file)) && !files.every((file) => this.isOwn(file));
  }

  isOwn(file: string): boolean {
    return this.of(file).kind === this.ownKind;
  }
}

const known = new WeakMap<Functions, CodePlaces>();

export function placesOf(functions: Functions): CodePlaces {
  let places = known.get(functions);

  if (!places) {
    places = new CodePlaces(functions.file);
    known.set(functions, places);
  }
  return places;
}

/** The short path of a function's file, with its line if it is known; "" without a file. */
export function shortPlaceOf(functions: Functions, id: number): string {
  const { short } = placesOf(functions).of(functions.file[id]!);
  const line = functions.line[id]!;

  return short !== "" && line > 0 ? `${short}:${line}` : short;
}

/** The functions that are not the program's own code: those of packages, of the language and
 * of other modules. null if this is none or all of them. */
export function foreignMask(functions: Functions): Uint8Array | null {
  const places = placesOf(functions);

  return places.hasForeign ? Uint8Array.from(functions.file, (file) => Number(!places.isOwn(file))) : null;
}
