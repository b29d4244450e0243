/** Finds names with similar spelling. */

const COMPARED_MAX = 64;

/** The Levenshtein distance of two texts:
 * https://en.wikipedia.org/wiki/Levenshtein_distance */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);

  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

/** The names most similar to `text`; names that contain `text` come first. */
export function nearest(text: string, names: readonly string[], count: number): string[] {
  const sought = text.slice(0, COMPARED_MAX).toLowerCase();
  const far = (name: string): number => {
    const cut = name.slice(0, COMPARED_MAX).toLowerCase();
    return cut.includes(sought) || sought.includes(cut) ? 0 : distance(sought, cut);
  };

  return names.map((name) => ({ name, by: far(name) })).sort((a, b) => a.by - b.by).slice(0, count).map(({ name }) => name);
}
