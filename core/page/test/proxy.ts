/** A proxy between browser and server that can delay requests and break connections. */
import { createServer, request, type IncomingMessage, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";

export class Proxy {
  base = "";
  /** The paths of all requests, in order of arrival. */
  readonly seen: string[] = [];
  private readonly server: HttpServer;

  /** `delayMs` returns the delay before a request is forwarded; Infinity breaks the
   * connection. */
  constructor(private readonly to: string, private readonly delayMs: (path: string) => number) {
    this.server = createServer((incoming, outgoing) => {
      const path = incoming.url ?? "/";

      const delay = this.delayMs(path);

      this.seen.push(path);
      if (delay === Infinity) {
        outgoing.destroy();
        return;
      }
      setTimeout(() => {
        const onward = request(new URL(path, this.to), { method: incoming.method, headers: { ...incoming.headers, host: new URL(this.to).host } },
          (answer: IncomingMessage) => {
            outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
            answer.pipe(outgoing);
          });
        onward.on("error", () => { outgoing.destroy(); });
        incoming.pipe(onward);
      }, delay);
    });
  }

  static async start(to: string, delayMs: (path: string) => number): Promise<Proxy> {
    const proxy = new Proxy(to, delayMs);

    await new Promise<void>((resolve) => proxy.server.listen(0, "127.0.0.1", resolve));
    // A test that failed without stopping its proxy must not keep the process alive.
    proxy.server.unref();
    proxy.base = `http://127.0.0.1:${(proxy.server.address() as AddressInfo).port}/`;
    return proxy;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
