/** Starts a spanprof-server for a test, with a temporary data directory and a free port. */
import { after } from "node:test";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";

const started: Server[] = [];

export class Server {
  base = "";
  readonly data = mkdtempSync(join(tmpdir(), "spanprof-page-"));
  private process: ChildProcess | null = null;
  private port = "0";

  static async start(...options: string[]): Promise<Server> {
    const server = new Server();
    started.push(server);
    await server.restart(...options);
    return server;
  }

  /** Starts the server, or restarts it with the same address and data. */
  async restart(...options: string[]): Promise<void> {
    const program = process.env["SPANPROF_SERVER"];

    if (!program)
      throw new Error("SPANPROF_SERVER is not set");
    this.process = spawn(program, ["--listen", `127.0.0.1:${this.port}`, "--data", this.data, ...options],
      { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(this.process.stdout!, "data") as [Buffer];
    const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line.toString());
    if (!found)
      throw new Error(`no address in ${line.toString()}`);
    this.port = found[1]!;
    this.base = `http://127.0.0.1:${this.port}/`;
  }

  async stop(): Promise<void> {
    if (this.process && this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, "exit");
      this.process.kill("SIGTERM");
      await ended;
    }
    this.process = null;
  }

  async send(path: string, body: string | Uint8Array<ArrayBuffer>, type: string): Promise<void> {
    const answer = await fetch(new URL(path, this.base), { method: "POST", body, headers: { "Content-Type": type } });

    if (!answer.ok)
      throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }

  /** Sends folded stacks with 10 ms per sample, for the ten seconds before `untilMs`.
   * `name` may have labels: "shop.cpu{host=web-1}". The labels profile_id, span_name and
   * trace_id belong to spans. */
  async pushFolded(name: string, stacks: string, untilMs = Date.now()): Promise<void> {
    const query = new URLSearchParams({
      name, format: "folded", sampleRate: "100",
      from: String(Math.floor(untilMs / 1000) - 10), until: String(Math.floor(untilMs / 1000)),
    });
    await this.send(`ingest?${query.toString()}`, stacks, "text/plain");
  }

  /** Sends spans as OTLP/JSON. */
  async pushTrace(service: string, spans: readonly TraceSpan[]): Promise<void> {
    await this.send("v1/traces", JSON.stringify({
      resourceSpans: [{
        resource: { attributes: [{ key: "service.name", value: { stringValue: service } }] },
        scopeSpans: [{ spans: spans.map(otlpSpan) }],
      }],
    }), "application/json");
  }
}

// Stops all servers, also after a failed test, since a running process blocks the test file.
after(async () => {
  for (const server of started) {
    await server.stop();
    rmSync(server.data, { recursive: true, force: true });
  }
});

export interface TraceSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startMs: number;
  durationMs: number;
  attributes?: Record<string, string>;
  /** OpenTelemetry's status code: 2 is an error. */
  status?: number;
}

function otlpSpan(span: TraceSpan): object {
  const nanoseconds = (ms: number): string => `${Math.round(ms)}000000`;

  return {
    traceId: span.traceId, spanId: span.spanId, parentSpanId: span.parentSpanId ?? "", name: span.name, kind: 2,
    startTimeUnixNano: nanoseconds(span.startMs), endTimeUnixNano: nanoseconds(span.startMs + span.durationMs),
    status: { code: span.status ?? 0 },
    attributes: Object.entries(span.attributes ?? {}).map(([key, value]) => ({ key, value: { stringValue: value } })),
  };
}
