/** Secrets of every kind that is redacted, drawn at random. Put together here, so that no file of the repository holds one that looks real. */
import fc from "fast-check";

export interface Planted {
  readonly kind: string;
  /** As it stands in a text. */
  readonly text: string;
  /** The part of it that must be nowhere. */
  readonly secret: string;
}

const ALPHANUMERIC = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"];
const UPPER = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"];
const signs = (from: readonly string[], minLength: number, maxLength = minLength) =>
  fc.string({ unit: fc.constantFrom(...from), minLength, maxLength });
const word = (minLength: number, maxLength = minLength) => signs(ALPHANUMERIC, minLength, maxLength);
/** A digit among its first signs, as nearly every random secret has. */
const mixed = (minLength: number, maxLength = minLength) => word(minLength - 1, maxLength - 1).map((text) => `7${text}`);

const plant = (kind: string, secrets: fc.Arbitrary<string>, show = (secret: string) => secret): fc.Arbitrary<Planted> =>
  secrets.map((secret) => ({ kind, text: show(secret), secret }));

function withLuhnDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, sign, at) => {
    const doubled = Number(sign) * (at % 2 === 0 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return digits + String((10 - (sum % 10)) % 10);
}

const DASHES = "-".repeat(5);
const toPem = (label: string) => (lines: string) =>
  `${DASHES}BEGIN ${label}PRIVATE KEY${DASHES}\n${lines}\n${DASHES}END ${label}PRIVATE KEY${DASHES}`;
const card = fc
  .tuple(fc.constantFrom("4", "51", "6011"), signs([..."0123456789"], 14))
  .map(([start, rest]) => withLuhnDigit((start + rest).slice(0, 15)));
const assigned = fc.constantFrom("password=", "PASSWORD = ", 'api_key="', '"client_secret": "', "DB_PASSWD='", '\\"secret\\":\\"');

export const plantedSecret: fc.Arbitrary<Planted> = fc.oneof(
  plant("pem", word(64, 400), toPem("RSA ")),
  plant("pem", word(64, 400), toPem("")),
  plant("pem", word(64, 400), (lines) => JSON.stringify({ private_key: toPem("")(lines) })),
  plant("bearer", mixed(20, 200), (token) => `Authorization: Bearer ${token}`),
  plant("bearer", mixed(20, 60), (token) => `authorization: basic ${token}==`),
  plant(
    "jwt",
    fc.tuple(word(20, 200), word(30, 60)).map(([claims, signed]) => `eyJ${claims}.eyJ${claims}.${signed}`),
  ),
  plant(
    "aws",
    signs(UPPER, 16).map((id) => `AKIA${id}`),
  ),
  plant(
    "google",
    word(35).map((id) => `AIza${id}`),
  ),
  plant(
    "github",
    word(36).map((id) => `ghp_${id}`),
  ),
  plant(
    "github",
    word(60).map((id) => `github_pat_${id}`),
  ),
  plant(
    "slack",
    mixed(24, 50).map((id) => `xoxb-1234567890-${id}`),
  ),
  plant(
    "stripe",
    word(24, 99).map((id) => `sk_live_${id}`),
  ),
  plant(
    "openai",
    mixed(40, 120).map((id) => `sk-proj-${id}`),
  ),
  plant(
    "openai",
    mixed(40, 95).map((id) => `sk-ant-api03-${id}`),
  ),
  plant(
    "longhand",
    fc.tuple(signs(UPPER, 26), word(49)).map(([tenant, rest]) => `lh_dev_${tenant}_${rest}`),
  ),
  fc.tuple(assigned, mixed(8, 60)).map(([name, secret]) => ({ kind: "password", text: `${name}${secret}`, secret })),
  plant("connection", mixed(8, 40), (password) => `postgres://admin:${password}@db.example.com:5432/main`),
  plant("connection", mixed(8, 40), (password) => `redis://:${password}@cache.internal/0`),
  plant("card", card),
  plant("card", card, (digits) => digits.replace(/(\d{4})(?=\d)/g, "$1 ")),
);
