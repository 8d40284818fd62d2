-- What the registry holds of a model beyond its limits. Null: unknown, or for `ratio` 1.
-- capabilities: JSON. Prices: US dollars per million tokens, as the tenant or the deployment said them; what a package of
-- prices says changes with the day and is looked up when it is needed. credential: a name, never what it stands for.

ALTER TABLE models ADD COLUMN capabilities TEXT;
ALTER TABLE models ADD COLUMN ratio REAL;
ALTER TABLE models ADD COLUMN price_input REAL;
ALTER TABLE models ADD COLUMN price_output REAL;
ALTER TABLE models ADD COLUMN price_cached REAL;
ALTER TABLE models ADD COLUMN price_cache_write REAL;
ALTER TABLE models ADD COLUMN credential TEXT;
