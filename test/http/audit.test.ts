import { describe, expect, it } from "vitest";
import { verifyAudit } from "../../scripts/audit/verify";
import type { TenantAuditApi } from "../../src/app/audit-api";
import { buildGenesis, chainEntry } from "../../src/app/audit-chain";
import type { AuditEntry } from "../../src/contract/audit";
import { AUDIT_ACTIONS } from "../../src/domain/audit-actions";
import { ok } from "../../src/lib/result";
import { AUDITED, AUDITED_OF_DEPLOYMENT, NOT_AUDITED } from "../support/audit-table";
import { readProblem, TENANT, world } from "./support";

const document: { readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>> } = await (
  await world().app.request("/openapi.json")
).json();
const acting = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([method, { operationId }]) => method !== "get" || path.startsWith("/v1/admin/") || operationId in AUDITED)
    .map(([, { operationId }]) => operationId),
);

describe("the table of audited operations", () => {
  it("has every operation that changes something, that an admin reads with or that leaves an entry, once", () => {
    const audited = new Set([...Object.keys(AUDITED), ...Object.keys(AUDITED_OF_DEPLOYMENT)]);

    expect([...audited, ...Object.keys(NOT_AUDITED)].sort()).toEqual(acting.toSorted());
  });

  it("has every operation of admins, of which each leaves an entry in the deployment's log or changes nothing", () => {
    const ofAdmins = Object.entries(document.paths)
      .filter(([path]) => path.startsWith("/v1/admin/"))
      .flatMap(([, operations]) => Object.values(operations).map(({ operationId }) => operationId));
    const silent = Object.keys(NOT_AUDITED).filter((operationId) => ofAdmins.includes(operationId));

    expect([...Object.keys(AUDITED_OF_DEPLOYMENT), ...silent].sort()).toEqual(ofAdmins.toSorted());
  });

  it("has every action", () => {
    const more = ["session.rebuilt_and_read", "tenant.moved", "erasure.finished", "webhook_endpoint.disabled", "channel.user_paired"];
    const known = [...Object.values(AUDITED), ...Object.values(AUDITED_OF_DEPLOYMENT), ...more];
    expect([...new Set(known)].sort()).toEqual(AUDIT_ACTIONS.toSorted());
  });
});

const genesis = buildGenesis(TENANT);
function makeEntries(count: number): readonly AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (let n = 1; n <= count; n++) {
    const act = { actor: { kind: "system" as const, id: null }, request_id: null };
    const subject = { action: "model.put" as const, target: { type: "model" as const, id: `m${n}` }, details: {} };
    entries.push(chainEntry(entries.at(-1) ?? genesis, { act, subject, at: n }));
  }
  return entries;
}

/** A log whose pages have two entries. `grow`: called after each page. */
function paged(entries: AuditEntry[], grow: () => void = () => {}): TenantAuditApi["readAudit"] {
  return async ({ after }) => {
    const rest = entries.filter(({ seq }) => seq > (after ?? 0));
    grow();
    const head = entries.at(-1) ?? genesis;
    return ok({ data: rest.slice(0, 2), has_more: rest.length > 2, anchor: genesis, head: { seq: head.seq, hash: head.hash } });
  };
}

const LINES = { accept: "application/x-ndjson" };

describe("the audit log as lines", () => {
  it("has every page, and what verifies it", async () => {
    const entries = makeEntries(5);
    const response = await world({ tenant: { readAudit: paged([...entries]) } }).call("GET", "/v1/audit", { headers: LINES });

    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(verifyAudit(await response.text())).toEqual({ ok: true, entries: 5, seq: 5, hash: entries.at(-1)?.hash });
  });

  it("has entries that are made while it is read", async () => {
    const all = makeEntries(5);
    const stored = all.slice(0, 3);
    const readAudit = paged(stored, () => stored.push(...all.slice(stored.length, stored.length + 1)));
    const response = await world({ tenant: { readAudit } }).call("GET", "/v1/audit", { headers: LINES });

    expect(verifyAudit(await response.text())).toMatchObject({ ok: true, seq: 4 });
  });

  it("breaks off where entries were removed meanwhile, and is not verified then", async () => {
    const entries = makeEntries(5);
    const readAudit: TenantAuditApi["readAudit"] = async ({ after }) =>
      ok({ data: entries.slice(0, 2), has_more: true, anchor: after === 0 ? genesis : { seq: 4, hash: "x" }, head: genesis });
    const response = await world({ tenant: { readAudit } }).app.request("/v1/audit", {
      headers: { ...LINES, authorization: "Bearer lh_test_a-key" },
    });

    await expect(response.text()).rejects.toThrow("removed");
  });

  it.each(["limit=5", "order=asc", "action=model.put", "actor=x", "target=x", "from=1", "to=1"])(
    "refuses ?%s, because what is left out could not be verified",
    async (query) => {
      const response = await world().call("GET", `/v1/audit?${query}`, { headers: LINES });

      expect(response.status).toBe(400);
      expect((await readProblem(response)).errors).toMatchObject([{ field: query.split("=")[0] }]);
    },
  );

  it("begins after no entry that is not there yet", async () => {
    const response = await world({ tenant: { findAuditPlace: async () => ok(null) } }).call("GET", "/v1/audit?after=7", { headers: LINES });

    expect((await readProblem(response)).errors).toMatchObject([{ field: "after" }]);
  });
});

describe("who acts", () => {
  it.each([["a key", undefined, { kind: "key", id: expect.stringMatching(/^key_/) }]])(
    "%s is named with the request's id",
    async (_, __, actor) => {
      const acts: unknown[] = [];
      const { call } = world({
        tenant: {
          changeSettings: async (act) => {
            acts.push(act);
            return ok({ name: "x", default_model: "embedded", default_policy: "", allowed_origins: [] });
          },
        },
      });

      await call("PATCH", "/v1/tenant", { body: { name: "x" }, headers: { "x-request-id": "mine-1" } });

      expect(acts).toEqual([{ actor, request_id: "mine-1", nonce: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
    },
  );
});
