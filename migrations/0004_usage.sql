-- The usage ledger: tokens written to the provider's cache, and what a call cost in US dollars, by the prices of the moment.
-- NULL: not reported, or unknown, which is never free. Calls from before this migration have neither.

ALTER TABLE usage ADD COLUMN cache_write INTEGER DEFAULT NULL;
ALTER TABLE usage ADD COLUMN cost REAL DEFAULT NULL;

-- What GET /v1/usage reads: the calls of a tenant in a range of time. One more row written for each call.
CREATE INDEX usage_by_time ON usage (tenant_id, at);
