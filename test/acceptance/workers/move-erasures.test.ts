import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { PLACEMENT_TTL_MS } from "../../../src/app/placement";
import type { ErasureView } from "../../../src/contract/erasure";
import { sized } from "../../support/effort";
import { ringErasures } from "../../workers/alarms";
import { advanceClock } from "../../workers/clock";
import { asAdmin, countRows, findText, migrateAll, moveUntil, named, projected } from "../../workers/moves";
import { type Chat, newChat, newTenant, readBody, request, type Tenant } from "../../workers/support";

beforeAll(migrateAll);
afterEach(() => vi.restoreAllMocks());

const PHASES = ["announce", "copy", "verify", "settle", "release", "clean", "sweep", null] as const;
/**
 * What each writer knows of the placement is either from before the phase or of now. The simulation of moves tries both in each phase, with
 * everything going wrong around them (`test/simulation/moves.test.ts`).
 */
const KNOWN = ["before", "now"] as const;
const CASES = sized({
  whole: PHASES.map((phase, index) => [phase, KNOWN[index % 2] ?? "now"] as const),
  small: [
    ["copy", "before"],
    ["settle", "now"],
    ["clean", "before"],
  ] as const,
});

async function say(chat: Chat, text: string): Promise<Chat> {
  await chat.say(text);
  await projected(chat, "DB");
  return chat;
}

/** Starts the move and brings it into the phase. Every writer has written, so that it knows a placement. */
async function enter(tenant: Tenant, { phase, known, chats }: { phase: (typeof PHASES)[number]; known: string; chats: readonly Chat[] }) {
  if (phase === null || known === "now") await moveUntil(tenant, "DB_2", phase);
  if (known === "now") return advanceClock(PLACEMENT_TTL_MS + 1);
  if (phase === null) return;
  const before = PHASES[PHASES.indexOf(phase) - 1];
  if (before !== undefined && before !== null) await moveUntil(tenant, "DB_2", before);
  // The move waits before it leaves some phases: what is known then is older than that, and asked anew.
  for (const chat of chats) await readBody(await chat.call("PATCH", "", { title: "asks for the placement" }));
  await moveUntil(tenant, "DB_2", phase);
}

describe.each(CASES)("in the phase %s, by writers that know the placement of %s,", (phase, known) => {
  it("a session, an end user's session and a message that are erased are in no database", async () => {
    const tenant = await newTenant();
    const [one, ofUser, kept] = [await newChat({ tenant }), await newChat({ tenant }), await newChat({ tenant })];
    const mark = `planted${tenant.id.slice(-8).toLowerCase()}`;
    await readBody(await ofUser.call("PATCH", "", { end_user: "ada" }));
    for (const chat of [one, ofUser, kept]) await say(chat, mark);
    expect(await findText(mark)).not.toEqual([]);
    await enter(tenant, { phase, known, chats: [one, ofUser, kept] });

    await readBody(await one.call("DELETE"));
    const erasure = await readBody<ErasureView>(await tenant.call("DELETE", "/v1/end-users/ada"));
    const { data } = await readBody<{ data: { id: string; role: string }[] }>(await kept.call("GET", "/messages?limit=10"));
    const said = data.find(({ role }) => role === "user");
    await readBody(await kept.call("POST", `/messages/${said?.id}/redact`, {}));

    const done = await readBody<ErasureView>(await tenant.call("GET", `/v1/erasures/${erasure.id}`));
    expect(done.status).toBe("done");
    await vi.waitFor(async () => expect(await findText(mark)).toEqual([]), 10_000);
    if (phase !== null) await moveUntil(tenant, "DB_2", null);
    await projected(kept, "DB_2");
    expect(await findText(mark)).toEqual([]);
    const { DB, DB_3 } = await countRows(tenant);
    expect([DB, DB_3]).toEqual([0, 0]);
  });

  it("a tenant that is deleted has no row in any database, except tombstones and the sums of its calls", async () => {
    const tenant = await newTenant();
    const chats = [await newChat({ tenant }), await newChat({ tenant })];
    const mark = `planted${tenant.id.slice(-8).toLowerCase()}`;
    for (const chat of chats) await say(chat, mark);
    await enter(tenant, { phase, known, chats });

    const deleted = await readBody<ErasureView>(await request("DELETE", `/v1/admin/tenants/${tenant.id}`, asAdmin));
    await ringErasures(tenant);
    await ringErasures(tenant);

    const receipt = await readBody<ErasureView>(await request("GET", `/v1/admin/tenants/${tenant.id}/erasures/${deleted.id}`, asAdmin));
    expect(receipt.status).toBe("done");
    expect(await findText(mark)).toEqual([]);
    const answer = await request("POST", `/v1/admin/tenants/${tenant.id}/move`, { ...asAdmin, body: { to: "DB_2" } });
    expect(answer.status).toBe(404);
    await answer.body?.cancel();
    for (const name of ["DB", "DB_2", "DB_3"])
      for (const table of ["sessions", "tenants", "models", "messages", "search_rows"]) {
        const rows = await named(name).prepare(`SELECT count(*) AS n FROM ${table} WHERE tenant_id = ?`).bind(tenant.id).first("n");
        expect([name, table, rows]).toEqual([name, table, 0]);
      }
  });
});
