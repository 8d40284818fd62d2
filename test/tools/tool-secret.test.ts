/** A secret that a tool repeats is found in every form in which services write it. */
import { describe, expect, it } from "vitest";
import { hideSecret } from "../../src/tools/tool-secret";

const VALUE = 'Sk/Live+"42"\\key=';
const secret = { header: { name: "x-key", value: VALUE }, value: VALUE };
const json = JSON.stringify(VALUE).slice(1, -1);
const units = [...VALUE].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a secret is hidden", () => {
  it.each([
    ["as it is", VALUE],
    ["as JSON writes it", json],
    ["with slashes escaped, as PHP writes JSON", json.replaceAll("/", "\\/")],
    ["as JSON inside JSON", JSON.stringify(JSON.stringify(VALUE)).slice(1, -1)],
    ["in units of JSON", units],
    ["in upper case", VALUE.toUpperCase()],
    ["in lower case", VALUE.toLowerCase()],
    ["in a URL", encodeURIComponent(VALUE)],
    ["in a URL, in lower case", encodeURIComponent(VALUE).toLowerCase()],
  ])("%s", (_, written) => {
    const shown = hideSecret(`before ${written} after ${written}`, secret);

    expect(shown.replaceAll("\\", "")).toMatch(/^before "?\[secret\]"? after "?\[secret\]"?$/);
  });

  it.each(["", "u", "us", "user:"])("inside base64, behind %j", (before) => {
    const encoded = base64(`${before}${VALUE}: and more`);

    expect(hideSecret(`Basic ${encoded}.`, secret)).toContain("[secret]");
    expect(hideSecret(encoded.replaceAll("+", "-").replaceAll("/", "_"), secret)).toContain("[secret]");
  });

  it("each time that a repetitive one is there, and no more is taken out", () => {
    const value = "abababab";
    const shown = hideSecret("xabababababab%41babABABy", { header: { name: "x", value }, value });

    expect(shown).toBe("x[secret][secret]ABABy");
  });

  it.each(["", "100 %, %zz, \\, \\u12, C:\\users\\x", "sk/live", "Ünïcödé 😀 \\\\"])("and other text stays as it is: %j", (text) => {
    expect(hideSecret(text, secret)).toBe(text);
  });
});
