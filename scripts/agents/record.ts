/**
 * Requests of an agent as fixtures for the tests: their shapes are kept, and the agent's own words are replaced. `npm run agents -- --record` writes
 * them anew, for another version of an agent.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/paths.ts";
import type { Exchange } from "./watching-proxy.ts";

/** `results` is the main conversation with the result of its first call. */
type Kind = "main" | "results" | "helper" | "title";

const FOLDER = join(ROOT, "test", "fixtures", "agents");
const HEADERS =
  /^(?:user-agent|session-id|thread-id|originator|anthropic-(?:version|beta)|x-(?:app|session-id|session-affinity|openai-subagent|claude-code-.*|stainless-retry-count))$/;
/** Texts up to this length, in characters and without a space, are names. */
const NAME = 48;

interface Recorded {
  readonly client: string;
  readonly version: string;
  readonly exchanges: readonly Exchange[];
}

export function recordRequests({ client, version, exchanges }: Recorded): void {
  const words = new Map<string, string>();
  const requests = (["main", "results", "helper", "title"] as const).flatMap((kind) => {
    const exchange = findKind(exchanges, kind);
    return exchange ? [toFixture(exchange, kind, words)] : [];
  });
  mkdirSync(FOLDER, { recursive: true });
  const file = `${client.toLowerCase().replace(/\W+/g, "-")}.json`;
  writeFileSync(join(FOLDER, file), `${JSON.stringify({ client, version, requests }, null, 1)}\n`);
}

function findKind(exchanges: readonly Exchange[], kind: Kind): Exchange | undefined {
  const asked = exchanges.filter(({ method, status, path }) => method === "POST" && status === 200 && !path.includes("count_tokens"));
  const isTitle = ({ body }: Exchange): boolean => !/"tools":\[\{|"additional_tools"/.test(body);
  const isHelper = (exchange: Exchange): boolean =>
    !isTitle(exchange) && exchange.body.includes("Do this part: [task") && !exchange.body.includes("Please do this");
  if (kind === "title") return asked.find(isTitle);
  if (kind === "helper") return asked.find(isHelper);
  const main = asked.filter((exchange) => !isTitle(exchange) && !isHelper(exchange));
  return main[kind === "main" ? 0 : 1];
}

const CALL = /"(?:tool_use_id|tool_call_id|call_id)":"([^"]+)"/;

function toFixture({ path, headers, body }: Exchange, kind: Kind, words: Map<string, string>) {
  const kept = Object.entries(headers).filter(([name]) => HEADERS.test(name));
  const plain = JSON.stringify(replaceWords(JSON.parse(body), words));
  const [, call] = CALL.exec(plain) ?? [];
  const named = call === undefined ? plain : plain.replaceAll(call, "{call}");
  const asked = JSON.parse(named) as Record<string, unknown>;
  // Its tools are those of the main request.
  const { tools: _, ...rest } = asked;
  return { kind, path, headers: Object.fromEntries(kept), body: kind === "results" ? rest : asked };
}

/** Equal texts have equal words, so that a fixture can be compared as the request is. */
function replaceWords(value: unknown, words: Map<string, string>): unknown {
  if (typeof value === "string") return isName(value) ? value : replaceText(value, words);
  if (Array.isArray(value)) return value.map((each) => replaceWords(each, words));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name !== "description" && name !== "$schema" && name !== "client_metadata");
  return Object.fromEntries(entries.map(([name, each]) => [name, name === "arguments" ? "{}" : replaceWords(each, words)]));
}

const isName = (text: string): boolean => text.length <= NAME && !/\s/.test(text);

function replaceText(text: string, words: Map<string, string>): string {
  const known = words.get(text) ?? `${words.size} words of the agent.`;
  words.set(text, known);
  return known;
}
