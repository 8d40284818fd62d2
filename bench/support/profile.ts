/** Time that V8 samples in the JavaScript of one Worker and its objects, read through Miniflare's inspector. */
import { z } from "zod";
import { Failure } from "../../scripts/support/output.ts";

const SAMPLE_US = 100;
/** A sample stands for the time until the next one. While the isolate sleeps nothing is sampled, so a longer gap is no work. */
const LONGEST_US = 3 * SAMPLE_US;

const targets = z.array(z.object({ id: z.string(), webSocketDebuggerUrl: z.url() }));

const profileResult = z.object({
  profile: z.object({
    nodes: z.array(z.object({ id: z.number(), callFrame: z.object({ functionName: z.string() }) })),
    samples: z.array(z.number()),
    timeDeltas: z.array(z.number()),
  }),
});
type Profile = z.infer<typeof profileResult>["profile"];

/** The answer to a command without a result has no `result` at all. */
const reply = z.object({ id: z.number(), result: z.unknown().optional() });

/** What is no JavaScript. The garbage collector is counted. */
const OUTSIDE: ReadonlySet<string> = new Set(["(root)", "(program)", "(idle)"]);

/** Profiles `work` in the Worker of that name, and returns milliseconds. `inspector`: Miniflare's address for it. */
export async function profileWorker(inspector: URL, worker: string, work: () => Promise<void>): Promise<number> {
  const session = await connect(await findTarget(inspector, worker));
  try {
    await session.send("Profiler.enable");
    await session.send("Profiler.setSamplingInterval", { interval: SAMPLE_US });
    await session.send("Profiler.start");
    await work();
    return sumScript(profileResult.parse(await session.send("Profiler.stop")).profile);
  } finally {
    session.close();
  }
}

async function findTarget(inspector: URL, worker: string): Promise<string> {
  const list = await fetch(new URL("/json", `http://${inspector.host}`));
  const found = targets.parse(await list.json()).find(({ id }) => id === worker || id.endsWith(`:${worker}`));
  if (!found) throw new Failure(`The inspector does not know the Worker ${worker}`);
  return found.webSocketDebuggerUrl;
}

async function connect(address: string) {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Failure(`No inspector answers at ${address}`)));
  });
  let sent = 0;
  const send = (method: string, params: object = {}): Promise<unknown> => {
    const id = ++sent;
    return new Promise((resolve) => {
      const hear = ({ data }: MessageEvent): void => {
        const answer = reply.safeParse(JSON.parse(String(data)));
        if (!answer.success || answer.data.id !== id) return;
        socket.removeEventListener("message", hear);
        resolve(answer.data.result);
      };
      socket.addEventListener("message", hear);
      socket.send(JSON.stringify({ id, method, params }));
    });
  };
  return { send, close: () => socket.close() };
}

function sumScript({ nodes, samples, timeDeltas }: Profile): number {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName]));
  let us = 0;
  for (const [index, sample] of samples.entries()) {
    if (OUTSIDE.has(names.get(sample) ?? "(root)")) continue;
    us += Math.min(LONGEST_US, timeDeltas[index + 1] ?? 0);
  }
  return us / 1_000;
}
