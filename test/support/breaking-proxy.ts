/** An HTTP proxy in front of a backend that breaks requests on purpose: it refuses, loses answers and cuts streams. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request as openRequest, type ServerResponse } from "node:http";

/**
 * What happens to a request. `refuse`: the proxy answers 503 itself. `lose`: the backend does it, and its answer is lost. A text:
 * the answer is cut right behind it, where it first occurs.
 */
export type Fault = "refuse" | "lose" | { readonly cutBehind: string };

export interface PassedRequest {
  /** Method and path without the query: `POST /v1/sessions`. */
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fault: Fault | null;
}

export interface BreakingProxy {
  readonly url: string;
  /** All requests in the order of their arrival. */
  readonly passed: readonly PassedRequest[];
  close(): void;
}

/** `faults`: by the request's name with each id as `*`, what happens to the first, the second, … of that name. Later ones pass. */
export async function startBreakingProxy(target: string, faults: Readonly<Record<string, readonly Fault[]>>): Promise<BreakingProxy> {
  const passed: PassedRequest[] = [];
  const server = createServer((request, response) => {
    const name = `${request.method} ${(request.url ?? "").replace(/\?.*/, "").replace(/[a-z]{3}_[0-9A-Z]{26}/g, "*")}`;
    const fault = faults[name]?.[passed.filter((other) => other.name === name).length] ?? null;
    passed.push({ name, headers: toPlainHeaders(request), fault });
    if (fault === "refuse") response.writeHead(503, { "retry-after": "0" }).end();
    else forward(target, { request, response, fault });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    passed,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const toPlainHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly fault: Exclude<Fault, "refuse"> | null;
}

function forward(target: string, { request, response, fault }: Exchange): void {
  const onward = openRequest(`${target}${request.url ?? "/"}`, {
    method: request.method ?? "GET",
    // A compressed answer would hide the text at which it is cut.
    headers: { ...request.headers, host: new URL(target).host, "accept-encoding": "identity" },
  });
  onward.on("response", (answer) => void passOn(answer, response, fault));
  onward.on("error", () => response.destroy());
  request.pipe(onward);
}

async function passOn(answer: IncomingMessage, response: ServerResponse, fault: Exchange["fault"]): Promise<void> {
  if (fault === "lose") {
    for await (const _ of answer);
    response.destroy();
    return;
  }
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  let sent = "";
  for await (const chunk of answer) {
    const before = sent.length;
    sent += Buffer.from(chunk).toString("latin1");
    const end = fault === null ? -1 : sent.indexOf(fault.cutBehind);
    if (fault !== null && end >= 0) {
      response.write(Buffer.from(sent.slice(before, end + fault.cutBehind.length), "latin1"), () => response.destroy());
      answer.destroy();
      return;
    }
    response.write(chunk);
  }
  response.end();
}
