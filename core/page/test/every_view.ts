/** One server with the data for every view of the page, and the addresses of the views. */
import { Server } from "./server.ts";
import { pushSpan, shopTrace, spanId, traceId } from "./shop.ts";

export interface ViewCase {
  address: string;
  /** A text that the view shows when its data has arrived. */
  expected: string;
  hasGraph: boolean;
}

const BOTH_SIDES = "leftQuery=shop.cpu&rightQuery=shop.cpu&leftFrom=now-1h&rightFrom=now-1h";

export const EVERY_VIEW: readonly ViewCase[] = [
  { address: "services", expected: "GET /cart", hasGraph: false },
  { address: "?query=shop.cpu", expected: "540 ms", hasGraph: true },
  { address: "labels?query=shop.cpu&label=span_name", expected: "GET /cart", hasGraph: true },
  { address: "spans?query=shop.cpu", expected: "GET /cart", hasGraph: true },
  { address: `span?query=shop.cpu&span=${spanId(17)}`, expected: "GET /cart", hasGraph: true },
  { address: "traces", expected: "GET /cart", hasGraph: false },
  { address: `trace?trace=${traceId(1)}`, expected: "SELECT cart", hasGraph: true },
  { address: `comparison?${BOTH_SIDES}`, expected: "540 ms", hasGraph: true },
  { address: `comparison-diff?${BOTH_SIDES}`, expected: "Largest changes", hasGraph: true },
  { address: "adhoc", expected: "Drop a profile here", hasGraph: false },
  { address: "?query=none.cpu", expected: "No application named", hasGraph: false },
];

export async function serverOfEveryView(): Promise<Server> {
  const server = await Server.start();
  const startMs = Date.now() - 60_000;

  await server.pushTrace("shop", shopTrace(1, startMs));
  await pushSpan(server, { id: spanId(17), name: "GET /cart", stacks: "main;serve;cart 12\nmain;serve;db 30", untilMs: startMs + 10_000 });
  await pushSpan(server, { id: spanId(18), name: "render", stacks: "main;serve;render 12", untilMs: startMs + 10_000 });
  return server;
}
