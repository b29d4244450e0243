/** The token that the server requires. The browser stores it for the address of the server
 * until the user removes it. */

/** undefined: not read from the storage yet. */
let current: string | null | undefined;

/** The key contains the path, because several servers can have the same origin. */
function storageKey(): string {
  return `spanprof-token ${new URL("./", location.href).pathname}`;
}

/** Returns null also if the browser denies access to its storage. */
function storedToken(): string | null {
  try {
    return localStorage.getItem(storageKey());
  } catch {
    return null;
  }
}

export function token(): string | null {
  return current ??= storedToken();
}

export function hasToken(): boolean {
  return token() !== null;
}

export function setToken(text: string): void {
  current = text;
  try {
    localStorage.setItem(storageKey(), text);
  } catch {
    // Without access to the storage, the token is lost when the page is reloaded.
  }
}

export function forgetToken(): void {
  current = null;
  try {
    localStorage.removeItem(storageKey());
  } catch {
    // Without access to the storage, nothing was stored.
  }
}

/** Calls `onChange` after another tab has stored or removed the token. */
export function followToken(onChange: () => void): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key !== null && key !== storageKey())
      return;
    current = key === null ? null : newValue;
    onChange();
  });
}
