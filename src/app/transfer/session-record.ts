/** Holds the events and texts of one session of a file to what could have been stored, while their lines are read. */
import type { LineOf } from "../../contract/export";
import type { StoredEvent } from "../../domain/events";
import { listNamedTexts, type NamedText } from "./named-texts";
import { ImportFault, type RecordCheck } from "./read-export";

/** UTF-16 units of one text: twice what a request may bring. */
const MAX_TEXT_UNITS = 16_777_216;

const LABELS = ["external_id", "end_user"] as const;
type Label = (typeof LABELS)[number];

interface OpenText {
  readonly id: string;
  /** The number of its first line. */
  readonly line: number;
  readonly pieces: string[];
  units: number;
}

export class SessionRecord {
  readonly #check: RecordCheck;
  readonly #named = new Map<string, NamedText>();
  /** The texts that name the session and its end user, which another session may have had before. */
  readonly #labels = new Map<string, string>();
  readonly #current: Record<Label, string | null> = { external_id: null, end_user: null };
  #open: OpenText | null = null;

  constructor(check: RecordCheck) {
    this.#check = check;
  }

  takeEvent(number: number, event: StoredEvent): void {
    const fault = this.#check.findEventFault(event);
    if (fault !== null) throw new ImportFault(number, `data.${fault}`);
    for (const named of listNamedTexts(event)) {
      const known = this.#named.get(named.id);
      if (known && known.role !== named.role) throw new ImportFault(number, `data: names ${named.id} as ${known.role} and ${named.role}`);
      this.#named.set(named.id, known ?? named);
    }
    const settings = event.type === "SessionOpened" ? event.settings : event.type === "SettingsChanged" ? event.changes : {};
    for (const label of LABELS) if (settings[label] !== undefined) this.#current[label] = settings[label]?.body ?? null;
  }

  takeBody(number: number, { id, text }: LineOf<"body">): void {
    if (this.#open?.id !== id) {
      this.end();
      this.#open = { id, line: number, pieces: [], units: 0 };
    }
    this.#open.pieces.push(text);
    this.#open.units += text.length;
    if (this.#open.units > MAX_TEXT_UNITS) throw new ImportFault(number, `text: has more than ${MAX_TEXT_UNITS} characters`);
  }

  /** Judges the text whose lines are over. */
  end(): void {
    const open = this.#open;
    this.#open = null;
    if (!open) return;
    const named = this.#named.get(open.id);
    if (!named) throw new ImportFault(open.line, "id: no event names this text");
    const text = open.pieces.join("");
    const fault = this.#check.findTextFault(named, text);
    if (fault !== null) throw new ImportFault(open.line, `text: ${fault}`);
    if (LABELS.some((label) => label === named.role)) this.#labels.set(open.id, text);
  }

  /** The session's line repeats what its log says. */
  checkLabels(number: number, session: Pick<LineOf<"session">, Label>): void {
    for (const label of LABELS) {
      const body = this.#current[label];
      const said = body === null ? null : (this.#labels.get(body) ?? null);
      if (session[label] !== said) throw new ImportFault(number, `${label}: is not the one of the session's events`);
    }
  }
}
