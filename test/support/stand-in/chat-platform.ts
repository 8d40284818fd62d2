/**
 * A chat platform for tests, on 127.0.0.1: it takes the replies of generic channels, each at an address of its own, and answers as a test says.
 * `GET …/log` waits until so many have come, so that no test has to sleep.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A reply as it came. */
export interface TakenReply {
  readonly operation: string;
  readonly conversation: string | null;
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly data: string }[];
}

/** `lost`: the reply is taken, and the connection ends without an answer. `hangs`: it is taken, and no answer comes. `ignored`: neither. */
export interface PlatformScript {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly lost?: true;
  readonly hangs?: true;
  readonly ignored?: true;
}

interface Room {
  readonly taken: TakenReply[];
  refused: number;
  readonly script: PlatformScript[];
  waiting: (() => void)[];
}

const rooms = new Map<string, Room>();

function findRoom(name: string): Room {
  const known = rooms.get(name) ?? { taken: [], refused: 0, script: [], waiting: [] };
  rooms.set(name, known);
  return known;
}

async function readText(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

const files: { readonly type: string; readonly bytes: Uint8Array }[] = [];
const FILE = "The opening hours are nine to five.";

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://platform");
  const [, name = "", act = ""] = pathname.split("/");
  const room = findRoom(name);
  const send = (status: number, body: unknown, headers = {}) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  if (act === "log") {
    const number = (name: string) => Number(searchParams.get(name) ?? 0);
    while (room.taken.length < number("at_least") || room.refused < number("refused"))
      await new Promise<void>((resolve) => room.waiting.push(resolve));
    return void send(200, room.taken);
  }
  const file = name === "files" ? files[Number(act)] : undefined;
  if (file) return void response.writeHead(200, { "content-type": file.type }).end(file.bytes);
  if (act === "file") return void response.writeHead(200, { "content-type": "text/plain" }).end(FILE);
  const text = await readText(request);
  if (act === "script") {
    room.script.push(...(JSON.parse(text) as PlatformScript[]));
    return void send(200, {});
  }
  const { data } = JSON.parse(text) as { readonly data: TakenReply };
  takeReply(room, data, { response, send });
}

interface Answering {
  readonly response: ServerResponse;
  readonly send: (status: number, body: unknown, headers?: PlatformScript["headers"]) => unknown;
}

function takeReply(room: Room, data: TakenReply, { response, send }: Answering): void {
  const { status = 200, headers = {}, lost, hangs, ignored } = room.script.shift() ?? {};
  if (ignored) return;
  if (lost || hangs || status === 200) room.taken.push(data);
  else room.refused++;
  for (const wake of room.waiting.splice(0)) wake();
  if (lost) return void response.destroy();
  if (!hangs) send(status, { message_id: `m${room.taken.length}` }, headers);
}

export interface ChatPlatform {
  readonly url: string;
  /** What an address took, for tests in this process. */
  taken(name: string): readonly TakenReply[];
  script(name: string, script: PlatformScript): void;
  /** Returns the file's address. */
  addFile(bytes: Uint8Array, type: string): string;
  close(): Promise<void>;
}

export async function startChatPlatform(): Promise<ChatPlatform> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The chat platform has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    taken: (name) => findRoom(name).taken,
    addFile: (bytes, type) => `http://127.0.0.1:${address.port}/files/${files.push({ bytes, type }) - 1}`,
    script: (name, script) => void findRoom(name).script.push(script),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
