/** Saves data to a file of the user. */
import { h } from "../parts/dom.ts";

/** Time after which the browser has certainly read the file. */
const SAVED_MS = 60_000;

/** Converts a title to a file name. */
export function fileName(title: string): string {
  const name = title.normalize("NFC").replace(/[^\p{Letter}\p{Number}._-]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 80);

  return name === "" ? "profile" : name;
}

export function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);

  h("a", { href: address, download: name }).click();
  setTimeout(() => { URL.revokeObjectURL(address); }, SAVED_MS);
}
