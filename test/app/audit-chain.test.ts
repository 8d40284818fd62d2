import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyAudit } from "../../scripts/audit/verify";
import { buildGenesis, chainEntry } from "../../src/app/audit-chain";
import { type AuditEntry, auditEntry } from "../../src/contract/audit";
import { AUDIT_ACTIONS, AUDIT_ACTORS, AUDIT_TARGETS } from "../../src/domain/audit-actions";
import { auditExample } from "../../src/http/examples/audit";
import { toLines } from "../support/audit-lines";

const OWNER = "ten_01JD8Z3V6Q4N7R2T5W9X0Y1ABK";
const genesis = buildGenesis(OWNER);

const act = fc.record({
  act: fc.record({
    actor: fc.record({ kind: fc.constantFrom(...AUDIT_ACTORS), id: fc.option(fc.string({ unit: "binary" })) }),
    request_id: fc.option(fc.string()),
  }),
  subject: fc.record({
    action: fc.constantFrom(...AUDIT_ACTIONS),
    target: fc.record({ type: fc.constantFrom(...AUDIT_TARGETS), id: fc.string({ unit: "binary" }) }),
    details: fc.record({ number: fc.integer(), expires_at: fc.option(fc.nat()) }, { requiredKeys: [] }),
  }),
  at: fc.nat(),
});

const chain = fc.array(act, { minLength: 1, maxLength: 12 }).map((acts) => {
  const entries: AuditEntry[] = [];
  for (const each of acts) entries.push(chainEntry(entries.at(-1) ?? genesis, each));
  return entries;
});

const fails = (entries: readonly unknown[], head?: { readonly seq: number; readonly hash: string }) =>
  expect(verifyAudit(toLines(OWNER, genesis, entries as readonly AuditEntry[]), head).ok).toBe(false);

describe("a chain of entries", () => {
  it("is verified from its genesis to its end by a program that shares no code with the service", () => {
    fc.assert(
      fc.property(chain, (entries) => {
        const verdict = verifyAudit(toLines(OWNER, genesis, entries));
        expect(verdict).toEqual({ ok: true, entries: entries.length, seq: entries.length, hash: entries.at(-1)?.hash });
      }),
    );
  });

  it("shows every change of an entry, at any depth", () => {
    fc.assert(
      fc.property(chain, fc.nat(), fc.nat(), (entries, which, where) => {
        const index = which % entries.length;
        const [entry] = entries.slice(index);
        const changes: readonly object[] = [
          { at: (entry?.at ?? 0) + 1 },
          { request_id: `${entry?.request_id}x` },
          { actor: { ...entry?.actor, id: `${entry?.actor.id}x` } },
          { target: { ...entry?.target, id: `${entry?.target.id}x` } },
          { details: { ...entry?.details, number: (entry?.details.number ?? 0) + 1 } },
          { details: { ...entry?.details, more: null } },
          { prev: genesis.hash.split("").reverse().join("") },
          { note: "added" },
        ];
        fails(entries.with(index, { ...entry, ...changes[where % changes.length] } as AuditEntry));
      }),
    );
  });

  it("shows an entry that is missing, repeated or moved", () => {
    fc.assert(
      fc.property(chain, fc.nat(), (entries, which) => {
        const index = which % entries.length;
        const [entry] = entries.slice(index);
        if (!entry) return;
        fails(entries.toSpliced(index, 0, entry));
        // At the end, only a head that was kept shows it.
        fails(entries.toSpliced(index, 1), { seq: entries.length, hash: entries.at(-1)?.hash ?? "" });
        if (index > 0) fails(entries.toSpliced(index, 1).toSpliced(index - 1, 0, entry));
      }),
    );
  });

  it("shows an entry that was made again with true hashes, by a head that was kept", () => {
    fc.assert(
      fc.property(chain, act, fc.nat(), (entries, other, which) => {
        const index = which % entries.length;
        const made = [...entries.slice(0, index), chainEntry(entries[index - 1] ?? genesis, other)];
        for (const { at, actor, request_id, action, target, details } of entries.slice(index + 1)) {
          made.push(chainEntry(made.at(-1) ?? genesis, { act: { actor, request_id }, subject: { action, target, details }, at }));
        }
        const [before, after] = [entries.at(-1), made.at(-1)];
        fc.pre(before?.hash !== after?.hash);
        fails(made, { seq: entries.length, hash: before?.hash ?? "" });
      }),
    );
  });

  it("continues from any entry that the reader kept, and from no other", () => {
    fc.assert(
      fc.property(chain, fc.nat(), (entries, which) => {
        const index = which % entries.length;
        const anchor = { seq: index + 1, hash: entries[index]?.hash ?? "" };
        expect(verifyAudit(toLines(OWNER, anchor, entries.slice(index + 1)))).toMatchObject({ ok: true });
        const rest = entries.slice(index + 1);
        if (rest.length > 0) expect(verifyAudit(toLines(OWNER, { ...anchor, hash: genesis.hash }, rest))).toMatchObject({ ok: false });
      }),
    );
  });

  it("belongs to one tenant: another's genesis is refused", () => {
    expect(
      verifyAudit(toLines("ten_other", genesis, [chainEntry(genesis, fc.sample(act, { numRuns: 1, seed: 1 })[0] ?? auditAct)])),
    ).toEqual({
      ok: false,
      line: 1,
      fault: "genesis",
    });
  });

  it("that was cut off, or is no such file, is named as that", () => {
    const text = toLines(OWNER, genesis, [chainEntry(genesis, auditAct)]);
    const lines = text.trimEnd().split("\n");
    expect(verifyAudit(lines.slice(0, -1).join("\n"))).toEqual({ ok: false, line: 2, fault: "cut" });
    expect(verifyAudit(lines.slice(1).join("\n"))).toEqual({ ok: false, line: 1, fault: "form" });
    expect(verifyAudit("{")).toEqual({ ok: false, line: 1, fault: "form" });
    expect(verifyAudit(text.replace(/\n\{"seq":1/, '\n{"seq:1'))).toEqual({ ok: false, line: 2, fault: "form" });
  });
});

const auditAct = {
  act: { actor: { kind: "system" as const, id: null }, request_id: null },
  subject: { action: "settings.changed" as const, target: { type: "tenant" as const, id: OWNER }, details: { fields: ["name"] } },
  at: 5,
};

it("the example of the document has true hashes and the documented shape", () => {
  expect(auditEntry.safeParse(auditExample)).toMatchObject({ success: true });
  expect(
    verifyAudit(toLines("ten_01JD8Z3V6Q4N7R2T5W9X0Y1ABK", buildGenesis("ten_01JD8Z3V6Q4N7R2T5W9X0Y1ABK"), [auditExample])),
  ).toMatchObject({
    ok: true,
  });
});
