/** Holds a whole stream of a response to the rules of the Open Responses specification. Pure: what came in, what is wrong with it out. */
import { isDeepStrictEqual } from "node:util";
import { type ResponseStreamEvent, streamEvent } from "./event-schemas";
import { ItemCheck } from "./item-check";
import type { OutputItem } from "./item-schemas";
import type { ResponseResource } from "./resource-schemas";
import type { Fault, Report } from "./rules";

/** One message as it came. `event`: the field of that name of server-sent events; null: there was none. */
export interface SentEvent {
  readonly event: string | null;
  readonly data: string;
}
export type Transport = "sse" | "socket";

type Ending = Extract<ResponseStreamEvent, { type: "response.completed" | "response.incomplete" | "response.failed" }>;
type Lifecycle = Extract<ResponseStreamEvent, { response: ResponseResource }>;

const DONE = "[DONE]";
/** What changes in a response while it is under way. */
const MOVING = ["status", "output", "usage", "error", "incomplete_details", "completed_at"] as const;
/** No event of its own says that a response was cancelled. */
const STATUSES: Readonly<Record<Ending["type"], readonly string[]>> = {
  "response.completed": ["completed"],
  "response.incomplete": ["incomplete", "cancelled"],
  "response.failed": ["failed"],
};

/** The breaches in the order of the stream. */
export function checkStream(sent: readonly SentEvent[], transport: Transport): readonly Fault[] {
  const faults: Fault[] = [];
  let at = 0;
  const check = new StreamCheck((rule, detail) => void faults.push({ rule, at, detail }));
  for (const message of sent) {
    const event = check.read(message, transport);
    if (event) check.take(event);
    at++;
  }
  check.end(transport);
  return faults;
}

class StreamCheck {
  readonly #report: Report;
  /** By their output_index. */
  readonly #items = new Map<number, ItemCheck>();
  #number = 0;
  #done = 0;
  #before: ResponseStreamEvent["type"] | null = null;
  #first: ResponseResource | null = null;
  #error: Extract<ResponseStreamEvent, { type: "error" }> | null = null;
  #ending: Ending | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  /** The event of a message. Null: it has none that could be followed. */
  read({ event: name, data }: SentEvent, transport: Transport): ResponseStreamEvent | null {
    if (this.#done > 0) this.#report("done", `${data} after ${DONE}`);
    if (data === DONE) {
      this.#done++;
      if (name !== null && name !== "message") this.#report("name", `${DONE} is named ${name}`);
      return null;
    }
    const parsed = streamEvent.safeParse(this.#parse(data));
    if (!parsed.success) {
      for (const { path, message } of parsed.error.issues) this.#report("schema", `${name}: ${path.join(".")}: ${message}`);
      this.#number++;
      return null;
    }
    if (name !== (transport === "sse" ? parsed.data.type : null)) this.#report("name", `${parsed.data.type} is named ${name}`);
    return parsed.data;
  }

  #parse(data: string): unknown {
    try {
      return JSON.parse(data);
    } catch {
      this.#report("json", data);
      return null;
    }
  }

  take(event: ResponseStreamEvent): void {
    if (event.sequence_number !== this.#number) this.#report("number", `${event.type} is ${event.sequence_number}, not ${this.#number}`);
    this.#number = event.sequence_number + 1;
    if (this.#ending) this.#report("ending", `${event.type} after ${this.#ending.type}`);
    this.#checkPlace(event);
    this.#before = event.type;
    if ("response" in event) this.#takeResponse(event);
    else if ("item_id" in event) this.#findItem(event)?.take(event);
    else if ("item" in event) this.#takeItem(event);
    else this.#error = event;
  }

  /** What must come right before an event. */
  #checkPlace({ type }: ResponseStreamEvent): void {
    const before = this.#before;
    const isFit = () => {
      if (type === "response.created") return before === null;
      if (type === "response.queued") return before === "response.created";
      if (type === "response.in_progress") return before === "response.created" || before === "response.queued";
      return before !== null && before !== "response.created" && before !== "response.queued";
    };
    if (!isFit()) this.#report("beginning", `${type} after ${before}`);
    if ((before === "error") !== (type === "response.failed")) this.#report("error", `${type} after ${before}`);
  }

  #takeResponse(event: Lifecycle): void {
    const { type, response } = event;
    this.#first ??= response;
    const [asked, first] = [readAsked(response), readAsked(this.#first)];
    for (const key of Object.keys({ ...asked, ...first }))
      if (!isDeepStrictEqual(asked[key], first[key])) this.#report("response", `${key} of ${type} is ${JSON.stringify(asked[key])}`);
    if (type === "response.created" || type === "response.queued" || type === "response.in_progress") this.#begin(type, response);
    else this.#finish(event, response);
  }

  #begin(type: Lifecycle["type"], { status, output, usage, background }: ResponseResource): void {
    const allowed = type === "response.created" ? ["queued", "in_progress"] : [type.slice("response.".length)];
    if (!allowed.includes(status)) this.#report("beginning", `${type} with the status ${status}`);
    if (status === "queued" && !background) this.#report("beginning", `${type}: only a response in the background is queued`);
    if (output.length > 0 || usage !== null) this.#report("beginning", `${type} with output or usage`);
  }

  #finish(event: Ending, { status, output, error }: ResponseResource): void {
    this.#ending ??= event;
    if (!STATUSES[event.type].includes(status)) this.#report("ending", `${event.type} with the status ${status}`);
    if (error && (this.#error?.code !== error.code || this.#error.message !== error.message))
      this.#report("error", `${event.type} has ${error.code}, the event before it ${this.#error?.code}`);
    if (this.#error && (this.#error.error.code !== this.#error.code || this.#error.error.message !== this.#error.message))
      this.#report("error", "the nested fields of the error event differ from the flat ones");
    const ended = [...this.#items.values()].flatMap((item) => item.ended ?? []);
    if (!isDeepStrictEqual(output, ended))
      this.#report("output", `${event.type} has ${describe(output)}, its events told ${describe(ended)}`);
    this.#checkUnfinished(status);
  }

  #checkUnfinished(status: ResponseResource["status"]): void {
    const items = [...this.#items.values()];
    for (const { ended, id } of items) {
      if (!ended || !("status" in ended) || ended.status !== "incomplete") continue;
      if (status === "completed") this.#report("status", `${id} is incomplete in a completed response`);
      if (id !== items.at(-1)?.id) this.#report("status", `${id} is incomplete, and another item follows`);
    }
  }

  #takeItem({ type, output_index: index, item }: Extract<ResponseStreamEvent, { item: OutputItem }>): void {
    if (type === "response.output_item.done") return this.#findItem({ type, output_index: index })?.end(item);
    const isNext = [...this.#items.values()].every(({ ended }) => ended);
    if (index !== this.#items.size || !isNext) this.#report("index", `${item.id} begins at ${index}, after ${this.#items.size} items`);
    if ([...this.#items.values()].some(({ id }) => id === item.id)) this.#report("identity", `two items are ${item.id}`);
    this.#items.set(index, new ItemCheck(item, this.#report));
  }

  #findItem({ type, output_index: index }: { readonly type: string; readonly output_index: number }): ItemCheck | null {
    const item = this.#items.get(index) ?? null;
    if (!item) this.#report("known", `${type} for the item at ${index}, which did not begin`);
    return item;
  }

  end(transport: Transport): void {
    if (!this.#ending) this.#report("ending", `the stream ends after ${this.#before}`);
    for (const item of this.#items.values()) if (!item.ended) this.#report("open", `${item.id} was left open`);
    if (this.#done !== (transport === "sse" ? 1 : 0)) this.#report("done", `${this.#done} times ${DONE}`);
  }
}

/** What a response was asked with, and which one it is. */
const readAsked = (response: ResponseResource): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(response).filter(([key]) => !MOVING.some((moving) => moving === key)));

const describe = (items: readonly OutputItem[]): string => JSON.stringify(items).slice(0, 400);
