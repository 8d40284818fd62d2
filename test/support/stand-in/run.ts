/**
 * The stand-in as a program, for trying a running server by hand: `node test/support/stand-in/run.ts [--port 4010]
 * [--window 16000] [--reserve 1000]`. It repeats each message.
 */
import { parseArgs } from "node:util";
import { startStandIn } from "./stand-in.ts";
import { contentText } from "./wire.ts";

const { values } = parseArgs({
  options: { port: { type: "string", default: "4010" }, window: { type: "string" }, reserve: { type: "string" } },
});

const standIn = await startStandIn({
  port: Number(values.port),
  ...(values.window === undefined ? {} : { window: Number(values.window) }),
  ...(values.reserve === undefined ? {} : { reserve: Number(values.reserve) }),
  respond: ({ messages }) => ({ text: `You said: ${contentText(messages.at(-1)?.content ?? null)}` }),
});
process.stdout.write(`${standIn.baseUrl}\n`);
