/** Clients of the API: they send, repeat unacknowledged messages, stop, retry, answer tools and change settings. */

import type { WholeSessionApi } from "../../src/app/control-api";
import type { Outcome } from "../../src/app/session-api";
import type { Accepted } from "../../src/contract/item";
import type { ToolCallView } from "../../src/contract/tool";
import { listEventItems } from "../../src/domain/items-of";
import { putAway } from "./archivist";
import { answerAgain, findQuestion, goBack, goOnElsewhere, redact } from "./brancher";
import { continuePlace } from "./continuer";
import { sendCounted } from "./counter";
import { handleDraft } from "./editor";
import { attempt, changeSettings, compact, insist, insistOnRoom, look, pin, startOver, takeBack } from "./keeper";
import { NameRules } from "./name-rules";
import { drawInstructions, drawTurnInput } from "./profile";
import { type RespondClient, respondAtOnce } from "./responder";
import { type Send, toSaid } from "./send";
import { TOOLS } from "./sim-tools";
import { drawText, toOwnWord } from "./texts";
import { CALLER, digestText, type World } from "./world";

const ENDS = ["completed", "failed", "stopped", "interrupted", "awaiting_tools"];

type Action = keyof typeof ORDINARY;
const ORDINARY = {
  send: 12,
  import: 1,
  twice: 1,
  tools: 4,
  wait: 2,
  stop: 1,
  retry: 1.5,
  settings: 0.7,
  context: 1.5,
  cancel: 0.7,
  look: 1,
  pins: 0.5,
  compact: 0.5,
  draft: 1.5,
  revert: 0.6,
  reset: 0.2,
  rewind: 0.6,
  switch: 0.5,
  again: 0.7,
  edit: 0.5,
  redact: 0.8,
  archive: 0.8,
  rebuild: 0.5,
  respond: 0,
  counted: 0,
  continue: 0,
};
/** Habits of people in runs with `responds`. The stories of the other runs do not depend on it. */
const RESPONDING: typeof ORDINARY = { ...ORDINARY, tools: 2, draft: 3, respond: 9, counted: 3, continue: 7 };
const TYPIST: typeof ORDINARY = {
  send: 20,
  import: 0,
  twice: 2,
  tools: 0,
  wait: 0,
  stop: 0.5,
  retry: 0.5,
  settings: 0,
  context: 0,
  cancel: 0.5,
  look: 0,
  pins: 0,
  compact: 0,
  draft: 0,
  revert: 0,
  reset: 0,
  rewind: 0,
  switch: 0,
  again: 0,
  edit: 0,
  redact: 0,
  archive: 0,
  rebuild: 0,
  respond: 0,
  counted: 0,
  continue: 0,
};

export class Users {
  readonly sends: Send[] = [];
  readonly names = new NameRules(this.sends);
  closing = false;
  #left: number;

  readonly world: World;

  constructor(world: World) {
    this.world = world;
    this.#left = world.profile.actions;
  }

  /** Creates the session and begins to talk. */
  async begin(): Promise<void> {
    const { random, profile } = this.world;
    const input = {
      model: profile.startModel,
      policy: profile.startPolicy,
      system: random.chance(0.7) ? `You are terse. ${drawText(random, 0, 400)}` : null,
      tools: profile.toolCalls > 0 ? TOOLS : null,
      title: null,
      metadata: {},
      ...(profile.meddles > 0 && { summaryInstructions: drawInstructions(random) ?? "Keep every name." }),
    };
    const open = () => this.#insist("open", (service) => service.open(CALLER, input));
    let opened = await open();
    while (!opened.ok && ["models_unavailable", "storage_full"].includes(opened.error.code)) opened = await open();
    this.world.violations.check(opened.ok, "harness", () => `the session did not open: ${JSON.stringify(opened)}`);
    const habits = profile.responds ? RESPONDING : ORDINARY;
    for (let n = 1; n <= profile.users; n++) void this.#sit(`user ${n}`, habits);
    if (profile.typist) void this.#sit("typist", TYPIST);
  }

  async #sit(name: string, habits: typeof ORDINARY): Promise<void> {
    const { scheduler, clients, random } = this.world;
    while (!this.closing && this.#left > 0) {
      await scheduler.gate(clients, `${name} thinks`, { weight: habits === TYPIST ? 2 : 0.5 });
      const away = this.world.awayUntil - scheduler.now;
      if (away > 0) await scheduler.sleep(clients, away, `${name} is away`);
      if (this.closing) return;
      this.#left--;
      const action = random.weighted(habits);
      this.world.stats.count(`user: ${action}`);
      await this.#act(action);
    }
  }

  #act(action: Action): Promise<unknown> {
    switch (action) {
      case "send":
        return this.world.profile.polite ? this.#converse() : this.#send();
      case "import":
        return this.#import();
      case "twice":
        return this.#sendTwice();
      case "tools":
        return this.#answerTools();
      case "wait":
        return this.#wait();
      case "stop":
        return this.#try("stop", (service) => service.stop(CALLER, { idempotency: null }));
      case "retry":
        return this.#retry();
      case "settings":
        return changeSettings(this.world);
      case "context":
        return this.#preview();
      case "cancel":
        return this.#cancel();
      case "look":
        return look(this.world);
      case "pins":
        return pin(this.world);
      case "compact":
        return compact(this.world);
      case "rewind":
        return goBack(this.world);
      case "switch":
        return goOnElsewhere(this.world);
      case "again":
        return answerAgain(this.world);
      case "edit":
        return this.#edit();
      case "redact":
        return redact(this.world);
      case "archive":
        return putAway(this.world);
      case "respond":
        return this.#respond();
      case "counted":
        return sendCounted(this.#client());
      case "continue":
        return continuePlace(this.#client());
      case "rebuild":
        return this.world.rebuilder.begin();
      case "draft":
        return handleDraft(this.world);
      case "revert":
        return takeBack(this.world);
      case "reset":
        return startOver(this.world);
    }
  }

  #try<T>(label: string, work: (service: WholeSessionApi) => Promise<T>): Promise<T | null> {
    return attempt(this.world, label, work);
  }

  #insist<T>(label: string, work: (service: WholeSessionApi) => Promise<T>): Promise<T> {
    return insist(this.world, label, work);
  }

  #draw(change: Partial<Send> = {}): Send {
    const { random, profile, scheduler } = this.world;
    const run = change.role === undefined && random.chance(0.88);
    const number = this.sends.length + 1;
    const send: Send = {
      text: `~${number} ${toOwnWord("q", number)} ${drawText(random, random.chance(0.4) ? profile.longest / 3 : 3, profile.longest)}`,
      clientId: random.chance(0.05) && number > 1 ? random.pick(this.sends).clientId || `id-${number}` : `id-${number}`,
      batch: null,
      image: change.role === undefined && random.chance(profile.images),
      onBusy: random.weighted({ queue: 7, interrupt: 2, reject: 1 }),
      run,
      role: run ? "user" : random.pick(["user", "assistant", "system"]),
      calls: [],
      wordless: false,
      choice: run && random.chance(0.2) ? drawTurnInput(random) : {},
      issuedAt: scheduler.steps,
      ackedAt: null,
      message: null,
      turn: null,
      refused: false,
      ...change,
    };
    this.sends.push(send);
    return send;
  }

  async #send(): Promise<Send> {
    const send = this.#draw();
    await this.#deliver(send, this.world.newKey());
    return send;
  }

  /** Sends a message, waits for the answer, returns the results of tools, and pauses for a while. */
  async #converse(): Promise<void> {
    const { turn } = await this.#send();
    if (!turn) return;
    for (let rounds = 0; rounds < 4; rounds++) {
      const report = await this.#try("wait", (service) => service.waitForTurn(CALLER, turn));
      if (!report?.ok || report.value.status !== "awaiting_tools") break;
      await (this.world.profile.responds ? this.#respond() : this.#answerTools());
    }
    const { random, scheduler, clients } = this.world;
    if (random.chance(0.6)) await scheduler.sleep(clients, random.int(0, 20_000), "a pause");
  }

  /** An imported exchange: a reply that calls tools, and results, some of them invalid, in any order. */
  async #import(): Promise<void> {
    const { random } = this.world;
    const calls = Array.from({ length: random.int(1, 3) }, () => `call_${random.int(1, 3)}`);
    const batch = random.chance(0.5) ? this.world.newBatch() : null;
    const reply = this.#draw({ role: "assistant", calls, wordless: random.chance(0.4), batch });
    if (batch !== null) return this.#importAtOnce(reply, batch);
    await this.#deliver(reply, this.world.newKey());
    for (const call_id of calls.toReversed()) {
      if (this.closing || random.chance(0.2)) return;
      const answered = random.chance(0.1) ? `call_${random.int(1, 3)}` : call_id;
      const result = this.#draw({ role: "tool", calls: [answered], onBusy: random.chance(0.9) ? "queue" : "interrupt" });
      await this.#deliver(result, this.world.newKey());
    }
  }

  /** An imported exchange as one request, of which all or nothing is recorded. */
  async #importAtOnce(reply: Send, batch: number): Promise<void> {
    const { random, violations, stats, log } = this.world;
    const results = reply.calls.filter(() => random.chance(0.8)).map((call_id) => this.#draw({ role: "tool", calls: [call_id], batch }));
    const others = Array.from({ length: random.pick([0, 0, 3, 20]) }, () =>
      this.#draw({ role: random.pick(["user", "assistant", "system"]), batch }),
    );
    const sends = [reply, ...results, ...others];
    if (results.length > 0 && others.length === 0 && random.chance(0.5)) return this.#haveAnswered(sends);
    const input = { messages: sends.map(toSaid), idempotency: { key: this.world.newKey(), digest: digestText(reply.text) } };
    const done = await insistOnRoom(this.world, "import", (service) => service.importMessages(CALLER, input));
    stats.count(`import: ${done.ok ? "done" : done.error.code}`);
    if (!done.ok) {
      const expected = ["turn_running", "storage_full", "invalid", "client_id_taken"].includes(done.error.code);
      violations.check(expected, "I1", () => `an import was refused: ${JSON.stringify(done)}`);
      if (done.error.code === "client_id_taken") this.names.noteTaken(sends[done.error.index ?? -1], done.error.message);
      for (const send of sends) send.refused = true;
      return;
    }
    log.catchUp();
    if (log.replayed.compaction.requested) stats.count("imports beside a compaction");
    const { data } = done.value;
    violations.check(data.length === sends.length, "I1", () => `an import of ${sends.length} messages was answered with ${data.length}`);
    for (const [index, send] of sends.entries()) {
      send.ackedAt = this.world.scheduler.steps;
      send.message = data[index]?.id ?? null;
    }
  }

  /** An imported exchange as one request that ends with results, which a turn without a message answers. */
  async #haveAnswered(sends: readonly Send[]): Promise<void> {
    const { random } = this.world;
    const last = sends.at(-1);
    if (!last) return;
    const choice = random.chance(0.3) ? drawTurnInput(random) : {};
    const idempotency = { key: this.world.newKey(), digest: digestText(last.text) };
    const input = { after: null, results: [], messages: sends.map(toSaid), run: true, tools: null, ...choice, idempotency };
    const accepted = await insistOnRoom(this.world, "answer results", (service) => service.respond(CALLER, input));
    if (accepted.ok) this.world.stats.count("results answered");
    for (const send of sends) send.refused = !accepted.ok;
    if (accepted.ok) this.#noteOthers(sends.slice(0, -1));
    if (!accepted.ok && accepted.error.code === "client_id_taken")
      return this.names.noteTaken(sends[accepted.error.index ?? -1], accepted.error.message);
    this.#noteAnswer(last, accepted, ["calls_unanswered", "invalid", "unknown_model", "models_unavailable"]);
    if (accepted.ok && accepted.value.turn_id) this.world.choices.note(accepted.value.turn_id, choice, null);
  }

  /** The answer to a request names its last message alone. The others are known by their own ids. */
  #noteOthers(sends: readonly Send[]): void {
    const { log, scheduler } = this.world;
    log.catchUp();
    const items = new Map(log.events.flatMap(listEventItems).map(({ client_id, id }) => [client_id, id]));
    for (const send of sends) {
      send.message = items.get(send.clientId) ?? null;
      send.ackedAt = scheduler.steps;
    }
  }

  /** A client that sends a request twice: two requests with one key. */
  async #sendTwice(): Promise<void> {
    const send = this.#draw();
    const key = this.world.newKey();
    await Promise.all([this.#deliver(send, key), this.#deliver(send, key)]);
  }

  async #deliver(send: Send, key: string): Promise<void> {
    const { run, onBusy, choice } = send;
    const idempotency = { key, digest: digestText(send.text) };
    const input = { ...toSaid(send), run, onBusy, tools: null, ...choice, idempotency };
    const accepted = await insistOnRoom(this.world, `send ${send.text.slice(0, 6)}`, (service) => service.submit(CALLER, input));
    this.#noteAnswer(send, accepted);
  }

  #noteAnswer(send: Send, accepted: Outcome<Accepted>, more: readonly string[] = []): void {
    const { violations, stats, scheduler } = this.world;
    if (!accepted.ok) {
      stats.count(`refused: ${accepted.error.code}`);
      const refusals = [
        "turn_running",
        "queue_full",
        "storage_full",
        "budget_exhausted",
        "budgets_unavailable",
        ...more,
        ...(Object.keys(send.choice).length > 0 ? ["models_unavailable"] : []),
        ...(send.choice.model === "nobody" ? ["unknown_model"] : []),
        // A system prompt that leaves no room is refused.
        ...(send.choice.system ? ["invalid"] : []),
        "client_id_taken",
        ...(send.role === "tool" ? ["call_not_open"] : []),
      ];
      const expected = refusals.includes(accepted.error.code);
      violations.check(expected, "I1", () => `a message was refused: ${JSON.stringify(accepted.error)}`);
      if (accepted.error.code === "client_id_taken") this.names.noteTaken(send, accepted.error.message);
      send.refused = send.ackedAt === null;
      return;
    }
    const { message_id, turn_id } = accepted.value;
    const same = send.message === null || (send.message === message_id && send.turn === turn_id);
    violations.check(same, "I1", () => `one key led to two outcomes: ${send.message} and ${message_id}`);
    send.refused = false;
    send.ackedAt ??= scheduler.steps;
    send.message = message_id;
    send.turn = turn_id;
    if (turn_id) this.world.choices.note(turn_id, send.choice, null);
  }

  #respond(): Promise<void> {
    return respondAtOnce(this.#client());
  }

  #client(): RespondClient {
    return {
      world: this.world,
      names: this.names,
      draw: (change) => this.#draw(change),
      insist: (label, work) => insistOnRoom(this.world, label, work),
    };
  }

  /** A user's message in other words, on a branch of its own. It has no id of the client's. */
  async #edit(): Promise<void> {
    const { random } = this.world;
    const asked = await findQuestion(this.world);
    if (!asked) return;
    const choice = random.chance(0.4) ? drawTurnInput(random) : {};
    const send = this.#draw({ role: "user", run: true, onBusy: "queue", clientId: "", choice });
    const parts = [{ type: "text" as const, text: send.text }];
    const idempotency = { key: this.world.newKey(), digest: digestText(send.text) };
    const input = { message: asked, parts, tools: null, ...choice, idempotency };
    const accepted = await insistOnRoom(this.world, "edit", (service) => service.editMessage(CALLER, input));
    if (accepted.ok) this.world.stats.count("edit: done");
    this.#noteAnswer(send, accepted, ["message_not_found", "invalid", "branch_limit", "would_not_fit", "too_many_items"]);
  }

  async #answerTools(): Promise<void> {
    const { random } = this.world;
    const seen = await this.#try("describe", (service) => service.describe(CALLER));
    const open = seen?.ok ? (seen.value.turn?.open_calls ?? []) : [];
    if (open.length === 0) return;
    await this.#approve(open);
    const owed = open.filter((call) => call.runs === "client" || random.chance(0.02));
    if (owed.length === 0) return;
    const some = random.chance(0.7) ? owed : owed.slice(0, random.int(1, owed.length));
    const byExecution = random.chance(0.6);
    const results = some.map((call) => ({
      execution_id: byExecution ? call.id : null,
      call_id: byExecution ? null : call.call_id,
      output: random.chance(0.03) ? drawText(random, 20_000, 40_000) : drawText(random, 0, 2_000),
      is_error: random.chance(0.1),
    }));
    const idempotency = { key: this.world.newKey(), digest: "results" };
    await this.#insist("results", (service) => service.toolResults(CALLER, { results, idempotency }));
  }

  /** A person who handles waiting approvals: mostly approves, sometimes refuses, decides twice, or ignores them. */
  async #approve(open: readonly ToolCallView[]): Promise<void> {
    const { random, stats } = this.world;
    const waiting = open.filter((call) => call.approval === "pending" || random.chance(0.02));
    if (waiting.length === 0 || random.chance(0.1)) return;
    const approvals = waiting.map(({ id }) => ({ execution_id: id, approved: random.chance(0.7), reason: null }));
    const idempotency = { key: this.world.newKey(), digest: "approvals" };
    const answered = await this.#insist("approvals", (service) => service.approvals(CALLER, { approvals, idempotency }));
    stats.count(`approvals: ${answered.ok ? "taken" : answered.error.code}`);
  }

  async #wait(): Promise<void> {
    const { random, violations } = this.world;
    const turns = this.sends.flatMap((send) => send.turn ?? []);
    if (turns.length === 0) return;
    const turn = random.chance(0.7) ? turns.at(-1) : random.pick(turns);
    if (!turn) return;
    const report = await this.#try("wait", (service) => service.waitForTurn(CALLER, turn));
    if (report?.ok)
      violations.check(ENDS.includes(report.value.status), "I3", () => `a turn that was waited for is ${report.value.status}`);
  }

  async #retry(): Promise<void> {
    const { random, choices, stats } = this.world;
    const choice = random.chance(0.4) ? drawTurnInput(random) : {};
    const idempotency = { key: this.world.newKey(), digest: "retry" };
    const done = await insistOnRoom(this.world, "retry", (service) => service.retry(CALLER, { ...choice, idempotency }));
    stats.count(`retry: ${done.ok ? "done" : done.error.code}`);
    if (done.ok && done.value.turn_id) choices.note(done.value.turn_id, choice, null);
  }

  /** Reads the next request from `context`, and then sends the message. */
  async #preview(): Promise<void> {
    const send = this.#draw({ choice: {} });
    await this.#try("context", (service) => service.context(CALLER, { content: toSaid(send).parts ?? [] }));
    await this.#deliver(send, this.world.newKey());
  }

  async #cancel(): Promise<void> {
    const seen = await this.#try("describe", (service) => service.describe(CALLER));
    const waiting = seen?.ok ? seen.value.queued : [];
    if (waiting.length === 0) return;
    const { id } = this.world.random.pick(waiting);
    const cancelled = await this.#try("cancel", (service) => service.cancelQueued(CALLER, id));
    if (cancelled?.ok) this.world.stats.count("cancelled");
  }
}
