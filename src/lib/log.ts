/**
 * Structured logging: one line of JSON for each event. This is the only file that uses the console, and the last guard against printing
 * content.
 */
import { nameRequestNow } from "./request-scope";

type Fields = Readonly<Record<string, unknown>>;
type Level = "info" | "warn" | "error";

/** Ids, codes and names are shorter. A longer text is content that should not be here, and is cut. */
const MAX_TEXT = 200;
const MAX_ITEMS = 20;

interface JsonLog {
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
}

/** An error prints only its name, because messages of databases and providers quote parameters and prompts. */
function toScalar(value: unknown): string | number | boolean | null | undefined {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "string") return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  if (typeof value === "bigint") return value.toString();
  return value instanceof Error ? value.name : `[${typeof value}]`;
}

function toField(value: unknown): unknown {
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS).map(toScalar) : toScalar(value);
}

function toLine(level: Level, event: string, fields: Fields): string {
  const line: Record<string, unknown> = { time: Date.now(), level, event };
  if (!Object.hasOwn(fields, "request_id")) Object.assign(line, nameRequestNow());
  for (const [name, value] of Object.entries(fields)) if (!Object.hasOwn(line, name)) line[name] = toField(value);
  return JSON.stringify(line);
}

/**
 * Creates a log whose every line carries `fields`. Values are ids, codes, numbers, or short lists of them; objects are not printed. `time`
 * is in epoch milliseconds. A line names the request that is served when it is written, or says that its work is in the background.
 */
export function createLog(fields: Fields = {}): JsonLog {
  return {
    info: (event, more) => console.log(toLine("info", event, { ...fields, ...more })),
    warn: (event, more) => console.warn(toLine("warn", event, { ...fields, ...more })),
    error: (event, more) => console.error(toLine("error", event, { ...fields, ...more })),
  };
}
