/**
 * Replaces secrets in what a summary is made from, and in the summary itself, where the policy asks for it (docs/hardening.md). The record
 * stays whole. Every pattern takes linear time, and none is looked for inside of a replacement.
 */
import type { Part } from "../domain/message";
import type { TranscriptEntry } from "./prompts";

interface Detector {
  readonly kind: string;
  /** With the flag `g`. Group `before` stays in front of the replacement, group `after` behind it. */
  readonly pattern: RegExp;
  /** Judges what the pattern found. Absent: it is a secret. */
  readonly isSecret?: (found: string) => boolean;
}

/** The digits of a card number have a check digit (ISO/IEC 7812), which one in ten other numbers has by chance. */
function hasLuhnDigit(found: string): boolean {
  const digits = found.replaceAll(/[ -]/g, "");
  const sum = [...digits].reverse().reduce((total, sign, at) => {
    const doubled = Number(sign) * (at % 2 === 0 ? 1 : 2);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

/** In this order: what a pattern replaces, no later one finds. */
const DETECTORS: readonly Detector[] = [
  // A key that was cut off has no end: then what follows it goes, too.
  {
    kind: "pem",
    pattern: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----)){0,8000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
  },
  {
    kind: "connection",
    pattern: /(?<before>(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'<>[\]]{0,100}:)[^\s/@"'<>[\]]{1,200}(?<after>@)/gi,
  },
  { kind: "jwt", pattern: /(?<![\w-])eyJ[\w-]{8,4000}\.eyJ[\w-]{4,4000}\.[\w-]{0,4000}/g },
  { kind: "longhand", pattern: /(?<![\w-])lh_[a-z0-9]{2,12}_\w{20,200}/g },
  { kind: "aws", pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  { kind: "google", pattern: /(?<![\w-])(?:AIza[\w-]{35}(?![\w-])|ya29\.[\w-]{20,2000})/g },
  { kind: "github", pattern: /(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})/g },
  { kind: "slack", pattern: /(?<![\w-])(?:xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-[A-Za-z0-9-]{10,250})/g },
  { kind: "stripe", pattern: /(?<!\w)(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,250}|whsec_[A-Za-z0-9+/=]{16,250})/g },
  // A name such as sk-loading-indicator-of-the-page has no digit.
  { kind: "openai", pattern: /(?<![\w-])sk-(?=[A-Za-z_-]{0,100}\d)[\w-]{20,250}/g },
  { kind: "bearer", pattern: /(?<before>(?<![\w-])(?:bearer|basic)[ \t]{1,4})(?=[A-Za-z._~+/=-]{0,100}\d)[\w.~+/=-]{16,4000}/gi },
  {
    kind: "password",
    pattern:
      /(?<before>(?:passw(?:or)?d|passphrase|pwd|secret|api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key)(?:[ \t]{0,3}=[ \t]{0,3}|\\{0,3}["'][ \t]{0,3}[:=][ \t]{0,3})\\{0,3}["']?)(?=[^\s"'\\,;&<>{}()[\]\d]{0,100}\d)[^\s"'\\,;&<>{}()[\]]{6,250}/gi,
  },
  { kind: "card", pattern: /(?<![\w.-])[3-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w-])/g, isSecret: hasLuhnDigit },
  { kind: "card", pattern: /(?<![\w.-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![\w-])/g, isSecret: hasLuhnDigit },
];

export const SECRET_KINDS: readonly string[] = [...new Set(DETECTORS.map(({ kind }) => kind))];

export interface Redacted {
  readonly text: string;
  /** How many secrets were replaced. */
  readonly count: number;
}

export function redactSecrets(text: string): Redacted {
  let count = 0;
  const replaceAll = (from: string, { kind, pattern, isSecret }: Detector): string =>
    from.replaceAll(pattern, (found: string, ...rest: unknown[]) => {
      if (isSecret && !isSecret(found)) return found;
      count += 1;
      const { before = "", after = "" }: { before?: string; after?: string } = Object(rest.at(-1));
      return `${before}[secret:${kind}]${after}`;
    });
  return { text: DETECTORS.reduce(replaceAll, text), count };
}

function redactPart(part: Part): Part {
  switch (part.type) {
    case "text":
      return { ...part, text: redactSecrets(part.text).text };
    case "tool_call":
      return { ...part, arguments: redactSecrets(part.arguments).text };
    case "tool_result":
      return { ...part, output: redactSecrets(part.output).text };
    case "image":
    case "file":
      return part.name === undefined ? part : { ...part, name: redactSecrets(part.name).text };
    case "reasoning":
      // No transcript has it.
      return part;
  }
}

/** Before the entry is rendered, which may cut a text inside of a secret. */
export const redactEntry = (entry: TranscriptEntry): TranscriptEntry => ({ ...entry, parts: entry.parts.map(redactPart) });

/** How many secrets the transcript of the entry would have. */
export const countSecrets = ({ parts }: TranscriptEntry): number =>
  parts.reduce((sum, part) => sum + redactSecrets(toSourceText(part)).count, 0);

function toSourceText(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool_call":
      return part.arguments;
    case "tool_result":
      return part.output;
    case "image":
    case "file":
      return part.name ?? "";
    case "reasoning":
      return "";
  }
}
