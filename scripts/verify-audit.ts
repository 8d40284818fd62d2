/** `npm run verify-audit -- FILE [--head SEQ:HASH]`: verifies an exported audit log. `--head` is a place that was kept earlier. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { verifyAudit } from "./audit/verify.ts";

const { values, positionals } = parseArgs({ options: { head: { type: "string" } }, allowPositionals: true });
const [file] = positionals;
const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(values.head ?? "") ?? [];
if (file === undefined || (values.head !== undefined && hash === undefined)) {
  console.error("Usage: npm run verify-audit -- FILE [--head SEQ:HASH]");
  process.exit(2);
}
const verdict = verifyAudit(readFileSync(file, "utf8"), hash === undefined ? undefined : { seq: Number(seq), hash });
if (verdict.ok) console.log(`${verdict.entries} entries, unbroken. Head: ${verdict.seq}:${verdict.hash}`);
else console.error(`Broken at line ${verdict.line}: ${verdict.fault}`);
process.exitCode = verdict.ok ? 0 : 1;
