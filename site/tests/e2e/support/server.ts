import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".xml": "application/xml",
};

/** Serves a built site under a base as static hosts do: index.html for folders, 404.html for what isn't there. */
export async function serve(folder: string, base = "/"): Promise<{ origin: string; close: () => void }> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://host").pathname);
    const inside = path.startsWith(base) ? normalize(`/${path.slice(base.length)}`) : "/outside the base";
    const file = join(folder, inside.endsWith("/") ? `${inside}index.html` : inside);
    const send = (status: number, body: Buffer, type: string) =>
      response.writeHead(status, { "content-type": type }).end(body);
    readFile(file)
      .then((body) => send(200, body, TYPES[extname(file)] ?? "text/plain; charset=utf-8"))
      .catch(async () => send(404, await readFile(join(folder, "404.html")), "text/html; charset=utf-8"));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
