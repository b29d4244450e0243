/** Closes brackets and quotes while the user types a query. */
import { parseQuery } from "./parse.ts";

/** Replaces the text from `start` to `end`, and puts the caret at `caret`. */
export interface Edit {
  start: number;
  end: number;
  insert: string;
  caret: number;
}

/** Returns the edit that replaces the browser's effect of a key at the caret; null if
 * there is none. */
export function pairEdit(text: string, caret: number, key: string): Edit | null {
  const { place } = parseQuery(text, caret);
  const isString = place.kind === "value" && place.quoted;
  const overtyped: Edit = { start: caret, end: caret + 1, insert: key, caret: caret + 1 };
  const paired = (pair: string): Edit => ({ start: caret, end: caret, insert: pair, caret: caret + 1 });

  switch (key) {
    case "{":
      return place.kind === "head" && text.slice(caret).trim() === "" && !text.includes("{") ? paired("{}") : null;
    case "}":
      return text[caret] === "}" && !isString ? overtyped : null;
    case "\"":
      if (place.kind === "value" && !place.quoted)
        return paired("\"\"");
      return isString && text[caret] === "\"" && text[caret - 1] !== "\\" ? overtyped : null;
    case "Backspace":
      return isEmptyPair(text, caret, isString) ? { start: caret - 1, end: caret + 1, insert: "", caret: caret - 1 } : null;
    default:
      return null;
  }
}

function isEmptyPair(text: string, caret: number, isString: boolean): boolean {
  const pair = caret > 0 ? text.slice(caret - 1, caret + 1) : "";

  return pair === "{}" && !isString || pair === "\"\"" && isString && text[caret - 2] !== "\\";
}
