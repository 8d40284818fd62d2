/** The calls about imports of stored exports that a tenant's object answers. */

import { toAuditSubject } from "../app/audit-chain";
import { ok } from "../lib/result";
import { type Calls, existing } from "./existing-tenant";

export const importCalls = {
  beginImport: existing(({ upkeep, audit }, act, input) => {
    const { id, mode } = input;
    const fields = [`settings_${mode}`];
    return upkeep.imports.begin(input, act, () => audit.append(act, toAuditSubject("import.begun", "import", { id, fields })));
  }),
  getImport: existing(({ upkeep }, id) => upkeep.imports.get(id)),
  listImports: existing(({ upkeep }, page) => ok(upkeep.imports.list(page))),
  reportImport: existing(({ upkeep }, id, page) => upkeep.imports.report(id, page)),
  deleteImport: existing(({ upkeep, audit }, act, id) =>
    upkeep.imports.remove(id, () => audit.append(act, toAuditSubject("import.deleted", "import", { id }))),
  ),
} satisfies Partial<Calls>;
