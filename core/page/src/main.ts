/** The entry point. An exported HTML file shows its own data; the page of a server
 * shows the view that the address names. */
import { showFile } from "./file.ts";
import type { WireFile } from "./model/wire.ts";
import { startApp } from "./app.ts";

const container = document.getElementById("app")!;
const data = JSON.parse(document.getElementById("page-data")!.textContent) as WireFile | null;

if (data)
  showFile(container, data);
else
  void startApp(container);
