-- Sums of finished days, which GET /v1/usage reads instead of the calls of a large tenant. A day is stored when it is first asked for. Triggers
-- remove it with the first change of a call of that day, whoever writes it, so that a stored day is true and no writer has to know of it.
-- D1 takes a trigger of a migration only on one line, with BEGIN and END in capitals.

-- up_to: epoch milliseconds up to which the day is summed up. The day is complete when it ends there.
CREATE TABLE usage_days (
  tenant_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  up_to INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day)
) WITHOUT ROWID;

-- day: since 1970 (UTC). key_id: empty, if none is known. has_user: whether an end user is known, whose name is not here.
CREATE TABLE usage_day_sums (
  tenant_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  model TEXT NOT NULL,
  purpose TEXT NOT NULL,
  key_id TEXT NOT NULL,
  has_user INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  input INTEGER NOT NULL,
  uncached INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  output INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost REAL NOT NULL,
  unpriced INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, model, purpose, key_id, has_user)
) WITHOUT ROWID;

CREATE TRIGGER usage_inserted AFTER INSERT ON usage BEGIN DELETE FROM usage_days WHERE tenant_id = NEW.tenant_id AND day = NEW.at / 86400000; END;
-- REPLACE removes the earlier row without a DELETE trigger.
CREATE TRIGGER usage_replaced BEFORE INSERT ON usage BEGIN DELETE FROM usage_days WHERE tenant_id = NEW.tenant_id AND day = (SELECT at / 86400000 FROM usage WHERE tenant_id = NEW.tenant_id AND session_id = NEW.session_id AND seq = NEW.seq); END;
CREATE TRIGGER usage_updated AFTER UPDATE ON usage BEGIN DELETE FROM usage_days WHERE tenant_id IN (OLD.tenant_id, NEW.tenant_id) AND day IN (OLD.at / 86400000, NEW.at / 86400000); END;
CREATE TRIGGER usage_deleted AFTER DELETE ON usage BEGIN DELETE FROM usage_days WHERE tenant_id = OLD.tenant_id AND day = OLD.at / 86400000; END;
CREATE TRIGGER erased_usage_inserted AFTER INSERT ON erased_usage BEGIN DELETE FROM usage_days WHERE tenant_id = NEW.tenant_id AND day = NEW.at / 86400000; END;
CREATE TRIGGER erased_usage_updated AFTER UPDATE ON erased_usage BEGIN DELETE FROM usage_days WHERE tenant_id IN (OLD.tenant_id, NEW.tenant_id) AND day IN (OLD.at / 86400000, NEW.at / 86400000); END;
CREATE TRIGGER erased_usage_deleted AFTER DELETE ON erased_usage BEGIN DELETE FROM usage_days WHERE tenant_id = OLD.tenant_id AND day = OLD.at / 86400000; END;
CREATE TRIGGER usage_day_removed AFTER DELETE ON usage_days BEGIN DELETE FROM usage_day_sums WHERE tenant_id = OLD.tenant_id AND day = OLD.day; END;
