/** Secrets in texts that become summaries: each kind is replaced wherever it stands, and what only looks like one stays. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactSecrets, SECRET_KINDS } from "../../src/context/redact-secrets";
import { drawn } from "../support/effort";
import { plantedSecret } from "../support/planted-secrets";

/** Words between which a secret stands. A sign of a key's alphabet right beside it would be a part of it. */
const around = fc.string({ unit: "binary", maxLength: 80 }).map((text) => `${text}\n`);
const behind = fc.string({ unit: "binary", maxLength: 80 }).map((text) => `\n${text}`);

describe("a secret", () => {
  it("of every kind is replaced in any text, and counted", () => {
    fc.assert(
      fc.property(around, plantedSecret, behind, (before, { kind, text, secret }, after) => {
        const redacted = redactSecrets(before + text + after);
        expect(redacted.text).not.toContain(secret);
        expect(redacted.text).toContain(`[secret:${kind}]`);
        expect(redacted.count).toBeGreaterThan(0);
      }),
      { numRuns: drawn(500) },
    );
  });

  it("beside others is replaced as alone", () => {
    fc.assert(
      fc.property(fc.array(plantedSecret, { minLength: 2, maxLength: 6 }), (planted) => {
        const { text, count } = redactSecrets(planted.map((each) => each.text).join("\nand "));
        for (const { secret } of planted) expect(text).not.toContain(secret);
        expect(count).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  it("that was replaced is not found again", () => {
    fc.assert(
      fc.property(around, plantedSecret, behind, (before, { text }, after) => {
        const once = redactSecrets(before + text + after).text;
        expect(redactSecrets(once)).toEqual({ text: once, count: 0 });
      }),
    );
  });

  it("is drawn of every kind", () => {
    const drawn = new Set(fc.sample(plantedSecret, 500).map(({ kind }) => kind));
    expect([...drawn].sort()).toEqual([...SECRET_KINDS].sort());
  });

  it("leaves what says where it belongs", () => {
    const password = ["7hunter", "two"].join("");
    expect(redactSecrets(`postgres://admin:${password}@db.example.com/main`).text).toBe(
      "postgres://admin:[secret:connection]@db.example.com/main",
    );
    expect(redactSecrets(`export DB_PASSWORD=${password} # for staging`).text).toBe("export DB_PASSWORD=[secret:password] # for staging");
    expect(redactSecrets(`Authorization: Bearer ${password.repeat(3)}`).text).toBe("Authorization: Bearer [secret:bearer]");
  });

  it("that is a key without its end is replaced with what follows it", () => {
    const begin = `${"-".repeat(5)}BEGIN PRIVATE KEY${"-".repeat(5)}`;
    expect(redactSecrets(`See ${begin}\nMIIEvQ\nabc… [cut]`).text).toBe("See [secret:pem]");
  });
});

describe("what is no secret stays:", () => {
  it.each([
    "My locker code is 7719-B, and the meeting is on 2026-11-23 at 14:05.",
    "const password = readPassword(); if (password === undefined) throw new Error('no password');",
    "password: string; apiKey?: string; secret=None; token = null",
    "The bearer of this letter, and basic understanding of authentication schemes.",
    "https://example.com:8443/path?q=1@2 and mailto:ada@example.com",
    "http://localhost:8787/v1/sessions and ws://[::1]:80/",
    "Order 4111 1111 1111 1112 and phone +49 170 1234567, IBAN DE89370400440532013000",
    "sk-loading-indicator-of-the-whole-page and sk_test and ghp_short",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "ses_01JD8Z3V6Q4N7R2T5W9X0Y1A01, 018f2d3e-7c1a-7d3b-9a55-1f2e3d4c5b6a, 1795000000000",
    "eyJhbGciOiJIUzI1NiJ9 alone is half a token",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
  ])("%s", (text) => {
    expect(redactSecrets(text)).toEqual({ text, count: 0 });
  });
});
