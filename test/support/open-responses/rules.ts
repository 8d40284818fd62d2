/** What must hold of a response's stream as a whole, beyond the schema of each event. */
export const RULES = {
  json: "the data of each event is a JSON document",
  schema: "each event fits its schema",
  name: "the field `event` is the event's type; on a socket there is none",
  number: "sequence_number counts from 0 by one",
  beginning: "created comes first, then queued in the background alone, then in_progress, each with nothing written",
  response: "all events tell of one response, and what it was asked with does not change",
  index: "output_index counts from 0 by one, and an item begins after the end of the one before it",
  identity: "an item keeps its id, type and names, and shares its id with no other",
  added: "an item begins in progress and empty",
  known: "an event about an item comes between its beginning and its end",
  part: "the parts of an item count from 0 by one, one at a time: added, filled, told whole, done",
  call: "the arguments of a call are told whole once, and a server's call begins and ends as its item says",
  text: "the deltas add up to the text that every later event has",
  status: "an item ends completed, or unfinished as the last one of a response that is not completed",
  open: "nothing is open at the end",
  ending: "one event ends the response, nothing follows, and its status is the event's",
  output: "the last response has the items as their events ended them, in order",
  error: "an error event comes right before response.failed, with the same code and message, and nowhere else",
  done: "server-sent events end with [DONE], and a socket has none",
} as const;
export type RuleName = keyof typeof RULES;

/** A breach. `at`: the place of the message in the stream, from 0. */
export interface Fault {
  readonly rule: RuleName;
  readonly at: number;
  readonly detail: string;
}

export type Report = (rule: RuleName, detail: string) => void;
