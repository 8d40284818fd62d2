/** I27: the rules for tool calls, checked on the log at the end of a run. */
import type { StoredEvent } from "../../src/domain/events";
import type { World } from "./world";

type Of<T extends StoredEvent["type"]> = Extract<StoredEvent, { type: T }>;

export function checkExecutions({ tools, violations }: World, events: readonly StoredEvent[]): void {
  const of = <T extends StoredEvent["type"]>(type: T) => events.filter((event): event is Of<T> & StoredEvent => event.type === type);
  const called = of("ToolCalled");
  const begun = new Map(of("ToolStarted").map((event) => [event.execution, event.seq]));
  const results = of("ToolResultRecorded");
  const answered = new Map(results.map((event) => [event.item.tool?.execution, event]));
  violations.check(new Set(called.map(({ item }) => item.id)).size === called.length, "I27", () => "an execution was called twice");
  violations.check(answered.size === results.length, "I27", () => "a call has two results");
  violations.check(begun.size === of("ToolStarted").length, "I27", () => "a call was begun twice");
  for (const [execution, times] of tools.effects) {
    violations.check(times === 1, "I27", () => `${execution} took effect ${times} times`);
    violations.check(begun.has(execution), "I27", () => `${execution} took effect and was never written down as begun`);
  }
  for (const execution of begun.keys())
    violations.check(answered.has(execution), "I27", () => `${execution} was started, and its outcome was not recorded`);
  checkApprovals({ requested: of("ApprovalRequested"), resolved: of("ApprovalResolved"), begun }, violations);
}

interface Approvals {
  readonly requested: readonly Of<"ApprovalRequested">[];
  readonly resolved: readonly (Of<"ApprovalResolved"> & StoredEvent)[];
  readonly begun: ReadonlyMap<string, number>;
}

/** A call that needs approval starts only after it, and never after a refusal. */
function checkApprovals({ requested, resolved, begun }: Approvals, violations: World["violations"]): void {
  const answers = new Map(resolved.map((event) => [event.execution, event]));
  violations.check(answers.size === resolved.length, "I27", () => "an approval was given twice");
  for (const { execution } of requested) {
    const at = begun.get(execution);
    const answer = answers.get(execution);
    const allowed = at === undefined || (answer?.approved === true && answer.seq < at);
    violations.check(allowed, "I27", () => `${execution} was begun at ${at}, its approval is ${JSON.stringify(answer)}`);
  }
}
