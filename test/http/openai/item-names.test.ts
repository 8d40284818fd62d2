/** Names of OpenAI's items: what a name holds is read back, and only names of ours are read. Pure, for random ids. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseItemName, toItemName, toNameIn } from "../../../src/http/openai/items/item-names";
import { makeId } from "../support";

const number = fc.integer({ min: 1, max: 999 });
const session = number.map((n) => makeId("ses", n));
const named = fc.record({
  prefix: fc.constantFrom("msg" as const, "rs" as const, "fc" as const, "fco" as const, "mcp" as const),
  session,
  id: number.map((n) => makeId("msg", n)),
  nth: fc.integer({ min: 1, max: 9_999 }),
});

/** The name as builds before this one made it. */
const toOldName = (name: string): string => name.replace(/^([a-z]+_)[0-9A-Z]{26}/, "$1");

describe("the name of an item", () => {
  it("holds the session, the kind, the item and the part", () => {
    fc.assert(
      fc.property(named, (each) => {
        expect(parseItemName(toItemName(each))).toEqual(each);
      }),
    );
  });

  it("without a session is of whichever session is asked", () => {
    fc.assert(
      fc.property(named, session, (each, asked) => {
        const old = toOldName(toItemName(each));

        expect(parseItemName(old)).toEqual({ ...each, session: null });
        expect(toNameIn(asked, old)).toBe(toItemName({ ...each, session: asked }));
      }),
    );
  });

  it("is of its own session alone", () => {
    fc.assert(
      fc.property(named, session, (each, asked) => {
        const name = toItemName(each);

        expect(toNameIn(asked, name)).toBe(asked === each.session ? name : null);
      }),
    );
  });

  it("is read only if it is exactly one of ours", () => {
    const hostile = fc.constantFrom("x", "_", " ", "\n", "0", "_0", "_1", "_02", "_99999", "é", "字", "../", "%00");
    fc.assert(
      fc.property(named, hostile, fc.boolean(), (each, added, isBefore) => {
        const name = toItemName({ ...each, nth: 1 });

        expect(parseItemName(isBefore ? added + name : name + added)).toBeNull();
        expect(parseItemName(name.toLowerCase())).toBeNull();
      }),
    );
  });

  it.each(["", "msg_", "msg_abc", "resp_01", "cmp_00000000000000000000000001", `msg_${"8".repeat(26)}`, `msg_${"0".repeat(53)}`])(
    "is not %j",
    (name) => {
      expect(parseItemName(name)).toBeNull();
    },
  );
});
