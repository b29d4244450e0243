/** Where the page begins: in a file it shows what the file holds, from a server
 * what the address says. */
import { showFile } from "./file.ts";
import type { WireFile } from "./model/wire.ts";
import { startApp } from "./app.ts";

const place = document.getElementById("app")!;
const held = JSON.parse(document.getElementById("page-data")!.textContent) as WireFile | null;

if (held)
  showFile(place, held);
else
  startApp(place);
