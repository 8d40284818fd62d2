import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isHeldToSessions, mayUseModel, type Restriction, reachesSession, scopesWithin } from "../../src/domain/key-restriction";
import { ACCESS_TOKEN_SCOPES } from "../../src/domain/scopes";

const name = fc.constantFrom("a", "b", "c", "__proto__", "constructor");
const entries = fc.dictionary(name, name);
const restriction: fc.Arbitrary<Restriction> = fc.record({
  models: fc.option(fc.array(name)),
  end_users: fc.option(fc.array(name)),
  metadata: fc.option(entries),
});
const session = fc.record({ end_user: fc.option(name), metadata: entries });

const held = (changes: Partial<Restriction>): Restriction => ({ models: null, end_users: null, metadata: null, ...changes });

describe("a restriction", () => {
  it("with one field more never reaches a session that it did not reach without", () => {
    fc.assert(
      fc.property(restriction, session, (restricted, labels) => {
        if (!reachesSession(restricted, labels)) return;
        expect(reachesSession({ ...restricted, end_users: null }, labels)).toBe(true);
        expect(reachesSession({ ...restricted, metadata: null }, labels)).toBe(true);
      }),
    );
  });

  it("to end users reaches exactly their sessions, and none without an end user", () => {
    fc.assert(
      fc.property(fc.array(name), session, (end_users, labels) => {
        expect(reachesSession(held({ end_users }), labels)).toBe(end_users.some((each) => each === labels.end_user));
      }),
    );
  });

  it("to metadata reaches exactly the sessions that have every entry as their own", () => {
    fc.assert(
      fc.property(entries, session, (metadata, labels) => {
        const own = new Map(Object.entries(labels.metadata));
        const has = Object.entries(metadata).every(([key, value]) => own.get(key) === value);
        expect(reachesSession(held({ metadata }), labels)).toBe(has);
      }),
    );
  });

  it("to models allows these, and none allows all", () => {
    expect(["a", "b"].map((model) => mayUseModel(held({ models: ["a"] }), model))).toEqual([true, false]);
    expect([mayUseModel(held({}), "b"), mayUseModel(undefined, "b")]).toEqual([true, true]);
  });

  it("to sessions leaves the scopes of a chat, and never one that reaches the whole tenant", () => {
    fc.assert(
      fc.property(restriction, (restricted) => {
        if (isHeldToSessions(restricted)) expect(scopesWithin(restricted)).toEqual(ACCESS_TOKEN_SCOPES);
        else expect(scopesWithin(restricted)).not.toContain("keys:write");
      }),
    );
  });
});
