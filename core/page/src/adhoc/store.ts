/** Uploads an opened file to the server. */
import { Bytes } from "../export/bytes.ts";
import { packed, pprofOf } from "../export/pprof.ts";
import { treeOf } from "../model/tree.ts";
import type { WireApplication } from "../model/wire.ts";
import type { View } from "../views/view.ts";
import { h, safeText } from "../parts/dom.ts";
import { Problem } from "../parts/api.ts";
import { msOfLocal, zoned, zoneOf } from "../parts/zone.ts";
import type { ReadFile } from "./read.ts";

const RANGE_MS = 60_000;
const TIME_FIELD = 9;
/** The default of the server's --ingest-window: the maximum age of uploads. */
const WINDOW_MS = 3_600_000;

/** Returns the body of the upload: the profile as gzipped pprof with the time `timeMs`.
 * A pprof file keeps all its values and labels; other formats are uploaded with the
 * displayed value only. */
async function uploadOf(file: ReadFile, index: number, timeMs: number): Promise<Uint8Array<ArrayBuffer>> {
  if (file.format !== "pprof")
    return await packed(pprofOf(treeOf(file.values[index]!.tree), file.name, { lines: [], link: "", range: { fromMs: timeMs, untilMs: timeMs } }));
  // Append the time: if a protobuf field occurs twice, the last one counts.
  const last = new Bytes().append(file.bytes).varint(TIME_FIELD << 3).bigVarint(BigInt(timeMs) * 1_000_000n);
  return await packed(last.copy());
}

/** Asks the server which type it assigned to the stored profile. The link to the
 * profile needs the type. */
async function typeOf(view: View, name: string, value: string, timeMs: number): Promise<string | undefined> {
  const { applications } = await view.api.get<{ applications: WireApplication[] }>("applications",
    { from: timeMs - RANGE_MS, until: timeMs + RANGE_MS }, view.signal);
  const types = applications.find((each) => each.name === name)?.types ?? [];

  return types.find((type) => type.split(":")[1] === value) ?? types[0];
}

async function store(view: View, file: ReadFile, index: number, name: string, timeMs: number): Promise<string> {
  const body = await uploadOf(file, index, timeMs);

  await view.api.fetch("../../ingest", { name, format: "pprof", from: String(timeMs), until: String(timeMs) },
    { method: "POST", body, headers: { "Content-Type": "application/octet-stream" }, signal: view.signal });
  return view.address({
    query: `{service_name=${JSON.stringify(name)}}`, type: await typeOf(view, name, file.values[index]!.name, timeMs),
    from: String(timeMs - RANGE_MS), until: String(timeMs + RANGE_MS), live: undefined,
  }, "explore");
}

/** A time for a datetime-local field, in the time zone of the page. */
function localTime(ms: number): string {
  return zoned(ms).toISOString().slice(0, 19);
}

/** A valid application name, made from the file's name without its extension. */
function applicationName(name: string): string {
  return name.replace(/\.[\w.]*$/, "").replace(/[^A-Za-z0-9_.-]+/g, "-").replace(/^-+|-+$/g, "") || "profile";
}

/** The form that stores a file. `value` returns the index of the displayed value. */
export function storeForm(view: View, file: ReadFile, value: () => number): HTMLElement {
  const now = Date.now();
  const isRecent = file.timeMs !== null && Math.abs(now - file.timeMs) < WINDOW_MS;
  const name = h("input", { type: "text", required: true, value: applicationName(file.name), maxlength: 200 });
  const time = h("input", { type: "datetime-local", step: "1", required: true, value: localTime(isRecent ? file.timeMs : now) });
  const button = h("button", { type: "submit" }, "Store");
  const status = h("p", { role: "status" });
  const older = !isRecent && file.timeMs !== null
    ? h("p", { class: "faint" }, "The profile is older than an hour. To store it at its own time, start the server with --ingest-window off.") : null;

  async function run(): Promise<void> {
    button.disabled = true;
    status.className = "faint";
    status.textContent = "Storing\u2026";
    try {
      const address = await store(view, file, value(), name.value, msOfLocal(Date.parse(`${time.value}Z`)));
      status.replaceChildren("Stored. ", h("a", { href: address }, `Open ${safeText(name.value, 80)}`));
    } catch (error) {
      if (!(error instanceof Problem))
        throw error;
      status.className = "fault";
      status.textContent = error.status === 401 ? "The server needs a token. Enter it in another view and come back." : safeText(error.message);
    } finally {
      button.disabled = false;
    }
  }

  return h("details", { class: "adhoc-store" }, h("summary", {}, "Store on the server"),
    h("form", { onsubmit: (event: Event) => {
      event.preventDefault();
      void run();
    } }, h("label", {}, "Application ", name), h("label", {}, `Time (${zoneOf(now)}) `, time), button, older, status));
}
