/** Finds the address of the server, which may have a path if it is behind a proxy. */

/** A path below the server's address, which the server answers without a token. */
const ANSWERED = "healthz";

async function isRoot(root: URL): Promise<boolean> {
  try {
    return (await fetch(new URL(ANSWERED, root))).status !== 404;
  } catch {
    return false;
  }
}

/** Returns the nearest parent of an unknown address at which the server answers. */
export async function rootOf(address: URL): Promise<URL> {
  let root = new URL("./", address);

  while (root.pathname !== "/" && !await isRoot(root))
    root = new URL("../", root);
  return root;
}
