/** The entry point. An exported HTML file shows its own data; the page of a server
 * shows the view that the address names. */
import { showFile } from "./file.ts";
import type { WireFile } from "./model/wire.ts";
import { startApp } from "./app.ts";

const place = document.getElementById("app")!;
const held = JSON.parse(document.getElementById("page-data")!.textContent) as WireFile | null;

if (held)
  showFile(place, held);
else
  startApp(place);
