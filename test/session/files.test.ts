/** Files that tool calls touched, across compactions: in the summary, in the note that replaces it, and in the displayed receipt. */
import { expect, test } from "vitest";
import type { ToolDefinition } from "../../src/domain/message";
import { huge, long, talk } from "./filled";
import { CALLER, failure, Life, settle } from "./life";
import { ask, newLife, say, work } from "./talk";

/** The client declares what these tools do; their names do not show it. */
const tools: readonly ToolDefinition[] = [
  { name: "fetch_blob", parameters: { type: "object" }, files: { op: "read", path: "blob" } },
  { name: "store_blob", parameters: { type: "object" }, files: { op: "write", path: "blob" } },
];

async function uses(life: Life, name: string, blob: string): Promise<void> {
  await life.send(`use ${name}`);
  const call = { type: "tool_call", call_id: "c", name, arguments: JSON.stringify({ blob }) } as const;
  await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
  const results = [{ execution_id: null, call_id: "c", output: "ok", is_error: false }];
  await life.service.toolResults(CALLER, { results, idempotency: null });
  await settle();
  await life.answer("done");
}

/** Everything but the newest exchange leaves the view. */
async function compact(life: Life, summary: string): Promise<void> {
  await say(life, long("and then?"), "then nothing");
  await ask(life, { keepRecent: 256 });
  await work(life, summary);
}

async function newest(life: Life) {
  const listed = await life.service.compactions(CALLER, { after: null, limit: 1, order: "desc" });
  const id = listed.ok ? listed.value.data[0]?.id : undefined;
  const shown = id ? await life.service.compaction(CALLER, id) : null;
  if (!shown?.ok) throw new Error("no compaction");
  return shown.value;
}

test("are by what the tools say of themselves; a file read before one compaction and written before the next counts as modified", async () => {
  const life = await newLife({ policy: "oneclaw" });
  await life.service.patch(CALLER, { tools });
  await uses(life, "fetch_blob", "a.bin");
  await uses(life, "fetch_blob", "b.bin");
  await compact(life, "First.");
  expect((await newest(life)).receipt?.files).toEqual({ read: ["a.bin", "b.bin"], modified: [] });

  await uses(life, "store_blob", "a.bin");
  await compact(life, "Second.");

  const { summary, receipt } = await newest(life);
  expect(summary).toBe("Second.\n\n<read-files>\nb.bin\n</read-files>\n\n<modified-files>\na.bin\n</modified-files>");
  expect(receipt?.files).toEqual({ read: ["b.bin"], modified: ["a.bin"] });
});

test("are in no event: paths are content", async () => {
  const life = await newLife({ policy: "oneclaw" });
  await life.service.patch(CALLER, { tools });
  await uses(life, "store_blob", "secret-path.bin");
  await compact(life, "First.");
  expect((await newest(life)).receipt?.files?.modified).toEqual(["secret-path.bin"]);
  expect(JSON.stringify(life.events())).not.toContain("secret-path");
});

test("are in a note's receipt as well, and a change that wrote neither has none", async () => {
  const life = new Life();
  await life.open({ preset: "oneclaw", on_failure: "note" });
  await life.service.patch(CALLER, { tools });
  await uses(life, "store_blob", "a.bin");
  await talk(life, 5);
  await life.send(huge("question-6"));
  while (life.call.request.purpose === "compaction") {
    await life.say(failure("auth"));
  }

  expect(life.call.request.system).toMatch(/\[Compacted \d+ messages: /);
  expect((await newest(life)).receipt?.files).toEqual({ read: [], modified: ["a.bin"] });

  const other = new Life();
  await other.open({ preset: "oneclaw", summary: { form: "none" } });
  await talk(other, 6);
  await other.send(huge("question-7"));
  expect(await newest(other)).toMatchObject({ ops: [{ op: "drop" }], receipt: { files: null } });
});
