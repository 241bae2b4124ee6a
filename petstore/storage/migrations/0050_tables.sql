-- The tables of release 1.4.0, as in PostgreSQL.
CREATE TABLE project (
  id BIGSERIAL PRIMARY KEY,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  plan TEXT NOT NULL,
  per_minute BIGINT,
  per_day BIGINT,
  created_ms BIGINT NOT NULL,
  max_rows BIGINT,
  deleted_ms BIGINT,
  rows_held BIGINT,
  suspended_ms BIGINT,
  CHECK ((per_minute IS NULL) = (per_day IS NULL))
);
CREATE UNIQUE INDEX project_slug ON project (slug);
CREATE INDEX project_id ON project (id) WHERE rows_held IS NULL;
CREATE TABLE activity (
  id BIGSERIAL PRIMARY KEY,
  project_id BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  name TEXT NOT NULL,
  actor TEXT NOT NULL,
  facts TEXT NOT NULL,
  topic TEXT NOT NULL DEFAULT 'settings',
  FOREIGN KEY (project_id) REFERENCES project (id) ON DELETE CASCADE
);
CREATE INDEX activity_at_ms ON activity (at_ms);
CREATE INDEX activity_project_id_topic_id ON activity (project_id, topic, id);
CREATE TABLE api_key (
  id BIGSERIAL PRIMARY KEY,
  project_id BIGINT NOT NULL,
  prefix TEXT NOT NULL,
  digest BYTEA NOT NULL,
  label TEXT,
  created_ms BIGINT NOT NULL,
  last_used_ms BIGINT,
  expires_ms BIGINT,
  retires_ms BIGINT,
  revoked_ms BIGINT,
  banned_until_ms BIGINT,
  role TEXT NOT NULL DEFAULT 'full',
  per_minute BIGINT,
  per_day BIGINT,
  origins TEXT,
  is_public BOOLEAN,
  FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE UNIQUE INDEX api_key_prefix ON api_key (prefix);
CREATE INDEX api_key_ends ON api_key (project_id, (COALESCE(revoked_ms, CASE WHEN retires_ms < expires_ms THEN retires_ms ELSE COALESCE(expires_ms, retires_ms) END, 9223372036854775807)), id);
CREATE INDEX api_key_ended ON api_key ((COALESCE(revoked_ms, CASE WHEN retires_ms < expires_ms THEN retires_ms ELSE COALESCE(expires_ms, retires_ms) END, 9223372036854775807)));
CREATE TABLE category (
  project_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  name TEXT,
  folded TEXT,
  PRIMARY KEY (project_id, id),
  FOREIGN KEY (project_id) REFERENCES project (id)
);
-- Without the id: an index with all columns would be preferred to the primary key, and
-- read in full for a page of categories.
CREATE INDEX category_project_id_folded ON category (project_id, folded);
CREATE INDEX category_project_id_id ON category (project_id, id) WHERE folded IS NULL;
CREATE TABLE domain (
  id BIGSERIAL PRIMARY KEY,
  project_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  created_ms BIGINT NOT NULL,
  verified_ms BIGINT,
  is_chosen BOOLEAN NOT NULL,
  lost_ms BIGINT,
  looked_ms BIGINT,
  finding TEXT,
  astray_ms BIGINT,
  certificate_issuer TEXT,
  certificate_expires_ms BIGINT,
  certificate_fault TEXT,
  FOREIGN KEY (project_id) REFERENCES project (id),
  CHECK (verified_ms IS NOT NULL OR NOT is_chosen)
);
CREATE INDEX domain_looked_ms ON domain (looked_ms);
CREATE UNIQUE INDEX domain_project_id_name ON domain (project_id, name);
CREATE UNIQUE INDEX domain_name ON domain (name) WHERE (verified_ms IS NOT NULL);
CREATE TABLE domain_token (
  project_id BIGINT NOT NULL PRIMARY KEY,
  token TEXT NOT NULL,
  FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE TABLE failed_request (
  id BIGSERIAL PRIMARY KEY,
  project_id BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  operation TEXT NOT NULL,
  status BIGINT NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  key_prefix TEXT NOT NULL,
  request_id TEXT NOT NULL,
  FOREIGN KEY (project_id) REFERENCES project (id) ON DELETE CASCADE
);
CREATE INDEX failed_request_project_id_id ON failed_request (project_id, id);
CREATE TABLE key_usage (
  key_id BIGINT NOT NULL,
  day BIGINT NOT NULL,
  served BIGINT NOT NULL,
  refused BIGINT NOT NULL,
  PRIMARY KEY (key_id, day),
  FOREIGN KEY (key_id) REFERENCES api_key (id) ON DELETE CASCADE
);
CREATE INDEX key_usage_day ON key_usage (day);
CREATE TABLE pet (
  id BIGSERIAL PRIMARY KEY,
  project_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  category_id BIGINT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
  folded TEXT,
  added_ms BIGINT,
  added_by TEXT,
  changed_ms BIGINT,
  changed_by TEXT,
  writes BIGINT NOT NULL DEFAULT 0,
  closed_order BIGINT,
  closed_write BIGINT,
  FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE INDEX pet_project_id_id_folded ON pet (project_id, id, folded);
CREATE INDEX pet_id ON pet (id) WHERE folded IS NULL;
CREATE INDEX pet_project_id_status_id ON pet (project_id, status, id);
CREATE INDEX pet_project_id_category_id_id ON pet (project_id, category_id, id);
CREATE INDEX pet_project_id_category_id_status_id ON pet (project_id, category_id, status, id);
CREATE TABLE pet_order (
  id BIGSERIAL PRIMARY KEY,
  project_id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('placed', 'completed', 'cancelled')),
  created_ms BIGINT NOT NULL,
  updated_ms BIGINT NOT NULL,
  reference TEXT,
  folded TEXT,
  pet_name TEXT,
  pet_folded TEXT,
  placed_by TEXT,
  closed_by TEXT,
  FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE INDEX pet_order_project_id_id ON pet_order (project_id, id);
CREATE INDEX pet_order_project_id_status_id ON pet_order (project_id, status, id);
CREATE INDEX pet_order_project_id_pet_id_id ON pet_order (project_id, pet_id, id);
CREATE INDEX pet_order_project_id_pet_id_status_id ON pet_order (project_id, pet_id, status, id);
CREATE INDEX pet_order_id ON pet_order (id) WHERE folded IS NULL;
CREATE TABLE reply (
  project_id BIGINT NOT NULL,
  path TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint BYTEA NOT NULL,
  created_ms BIGINT NOT NULL,
  status BIGINT,
  location TEXT,
  body BYTEA,
  PRIMARY KEY (project_id, path, key),
  FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE INDEX reply_created_ms ON reply (created_ms);
CREATE TABLE secret (
  name TEXT NOT NULL PRIMARY KEY,
  text TEXT NOT NULL
);
CREATE TABLE session (
  digest TEXT NOT NULL PRIMARY KEY,
  key_id BIGINT NOT NULL,
  ends_ms BIGINT NOT NULL,
  began_ms BIGINT,
  seen_ms BIGINT,
  FOREIGN KEY (key_id) REFERENCES api_key (id) ON DELETE CASCADE
);
CREATE INDEX session_key_id ON session (key_id);
CREATE INDEX session_ends_ms ON session (ends_ms);
CREATE TABLE slug (
  slug TEXT NOT NULL PRIMARY KEY
);
CREATE TABLE upload (
  session_id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  content BYTEA NOT NULL,
  at_ms BIGINT NOT NULL,
  choices TEXT,
  FOREIGN KEY (session_id) REFERENCES session (digest) ON DELETE CASCADE
);
CREATE INDEX upload_at_ms ON upload (at_ms);
CREATE INDEX pet_outdated ON pet (id) WHERE SUBSTR(folded, 1, 1) != FOLDING;
CREATE INDEX pet_order_outdated ON pet_order (id) WHERE SUBSTR(folded, 1, 1) != FOLDING OR SUBSTR(pet_folded, 1, 1) != FOLDING;
CREATE TABLE category_merge (
  project_id BIGINT NOT NULL PRIMARY KEY,
  source BIGINT NOT NULL,
  target BIGINT NOT NULL,
  moved_id BIGINT NOT NULL,
  begun_by TEXT NOT NULL,
  FOREIGN KEY (project_id) REFERENCES project (id) ON DELETE CASCADE
);
CREATE TABLE import (
  id BIGSERIAL PRIMARY KEY,
  project_id BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  actor TEXT NOT NULL,
  added BIGINT NOT NULL,
  first_id BIGINT NOT NULL,
  last_id BIGINT NOT NULL,
  categories TEXT NOT NULL,
  removed BIGINT NOT NULL DEFAULT 0,
  FOREIGN KEY (project_id) REFERENCES project (id) ON DELETE CASCADE
);
CREATE INDEX import_at_ms ON import (at_ms);
CREATE INDEX import_project_id_id ON import (project_id, id);
