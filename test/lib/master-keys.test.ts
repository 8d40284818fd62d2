import { describe, expect, it } from "vitest";
import { parseMasterKeys } from "../../src/lib/master-keys";

const base64 = (fill: number, length = 32): string => btoa(String.fromCharCode(...new Uint8Array(length).fill(fill)));

describe("master keys", () => {
  it("are read in their order: the first is the current one", () => {
    const parsed = parseMasterKeys(`2026:${base64(2)}, 2025:${base64(1)}`);
    expect(parsed).toMatchObject({ ok: true, value: [{ kid: "2026" }, { kid: "2025" }] });
    expect(parsed.ok && parsed.value[0]?.bytes).toEqual(new Uint8Array(32).fill(2));
  });

  it.each(["", "  "])("are none in %j", (text) => {
    expect(parseMasterKeys(text)).toEqual({ ok: true, value: [] });
  });

  it.each([
    ["without an id", base64(1)],
    ["with an empty id", `:${base64(1)}`],
    ["with an odd id", `a key:${base64(1)}`],
    ["too short", `k:${base64(1, 16)}`],
    ["too long", `k:${base64(1, 33)}`],
    ["no base64", "k:####"],
    ["named twice", `k:${base64(1)},k:${base64(2)}`],
    ["with a comma too many", `k:${base64(1)},`],
  ])("%s are refused, and not quoted", (_, text) => {
    const parsed = parseMasterKeys(text);
    expect(parsed.ok).toBe(false);
    expect(JSON.stringify(parsed)).not.toContain(base64(1).slice(0, 8));
    expect(JSON.stringify(parsed)).not.toContain("####");
  });
});
