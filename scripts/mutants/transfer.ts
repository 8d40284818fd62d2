/** Mutants of exports and imports of a tenant. */
import type { Mutant } from "./mutant.ts";

const SETTINGS = ["test/tenant/settings-transfer.test.ts"];
const IMPORTS = ["test/tenant/imports.test.ts"];

export const transfer: readonly Mutant[] = [
  {
    name: "a key restores settings for which it has no scope",
    breaks: "docs/export-format.md: a key restores only the kinds for which it has the scope",
    file: "src/tenant/restore-settings.ts",
    find: "if (!allowed.includes(kind))",
    replace: "if (false)",
    tests: SETTINGS,
  },
  {
    name: "an import overwrites a setting that the tenant has otherwise",
    breaks: "docs/api/exports.md: keep is the default",
    file: "src/tenant/restore-settings.ts",
    find: 'if (tag !== undefined && mode === "keep")',
    replace: "if (false)",
    tests: SETTINGS,
  },
  {
    name: "a restored model may lie at a private address",
    breaks: "docs/export-format.md: a value is checked as the API checks it",
    file: "src/http/schemas/setting.ts",
    find: "const fault = model.base_url === null ? null : refuseModelUrl(model.base_url, allowPrivateModelUrls);",
    replace: "const fault = model.base_url === null ? null : refuseModelUrl(model.base_url, true || allowPrivateModelUrls);",
    tests: SETTINGS,
  },
  {
    name: "a setting comes twice in a file",
    breaks: "docs/export-format.md: settings are in order of kind and name",
    file: "src/app/transfer/import-file.ts",
    find: "if (key <= this.#setting)",
    replace: "if (key < this.#setting)",
    tests: SETTINGS,
  },
  {
    name: "an import that was cut off takes the lines before its place again",
    breaks: "docs/export-format.md: after a crash it goes on behind the last whole session",
    file: "src/app/transfer/import-file.ts",
    find: "if (number < this.#place.next) return;",
    replace: "",
    tests: IMPORTS,
  },
  {
    name: "an import brings back a session that was erased in the tenant",
    breaks: "docs/export-format.md: an erased session is refused by the tenant's receipts",
    file: "src/tenant/shared/directory.ts",
    find: "if (isBeingErased(session) || isErased(session)) return",
    replace: "if (isBeingErased(session)) return",
    tests: IMPORTS,
  },
  {
    name: "an import of a deleted entry goes on",
    breaks: "docs/api/exports.md: deleting an import ends it",
    file: "src/tenant/transfer/imports.ts",
    find: "if (!rows.isRunning(id)) return false;",
    replace: "",
    tests: IMPORTS,
  },
];
