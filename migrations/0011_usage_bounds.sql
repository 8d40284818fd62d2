-- From when on a tenant's usage is complete. Older rows were removed by its retention, and no writer brings one back.

CREATE TABLE usage_bounds (
  tenant_id TEXT NOT NULL PRIMARY KEY,
  complete_from INTEGER NOT NULL
) WITHOUT ROWID;
