-- An attempt of a pod to be scheduled, or (kind Victims) what was learnt about one afterwards. payload is the record in
-- protobuf, with the fields that this version does not know; the other columns are what is searched and listed.
CREATE TABLE decisions (
  id         @IDENTITY@,
  session    TEXT     NOT NULL,
  seq        BIGINT   NOT NULL,
  kind       TEXT     NOT NULL,
  namespace  TEXT     NOT NULL,
  pod        TEXT     NOT NULL,
  pod_uid    TEXT     NOT NULL,
  attempt    BIGINT   NOT NULL,
  tentative  SMALLINT NOT NULL,
  profile    TEXT     NOT NULL,
  at         BIGINT   NOT NULL,
  received   BIGINT   NOT NULL,
  took       BIGINT   NOT NULL,
  queue_wait BIGINT   NOT NULL,
  outcome    TEXT     NOT NULL,
  node       TEXT     NOT NULL,
  found      TEXT     NOT NULL,
  plugin     TEXT     NOT NULL,
  reason     TEXT     NOT NULL,
  nodes      BIGINT   NOT NULL,
  feasible   BIGINT   NOT NULL,
  payload    BYTEA    NOT NULL,
  UNIQUE (session, seq)
);

-- Each list is a walk along one of these, newest first, from where the last page ended.
CREATE INDEX decisions_at ON decisions (at, id) WHERE kind = 'Attempt';
CREATE INDEX decisions_namespace ON decisions (namespace, at, id) WHERE kind = 'Attempt';
CREATE INDEX decisions_pod ON decisions (pod, at, id);
CREATE INDEX decisions_uid ON decisions (pod_uid, at, id);
CREATE INDEX decisions_node ON decisions (node, at, id) WHERE kind = 'Attempt' AND node <> '';
-- Most attempts succeed, and their outcome selects nothing.
CREATE INDEX decisions_outcome ON decisions (outcome, at, id) WHERE kind = 'Attempt' AND outcome <> 'Bound';
CREATE INDEX decisions_plugin ON decisions (plugin, at, id) WHERE kind = 'Attempt' AND plugin <> '';

-- What is known of a pod, from decisions and from the watcher. 0 stands for a time that is not known, and for none; an
-- open end is ended = 9223372036854775807.
CREATE TABLE pods (
  uid       TEXT     NOT NULL PRIMARY KEY,
  namespace TEXT     NOT NULL,
  name      TEXT     NOT NULL,
  owner     TEXT     NOT NULL,
  node      TEXT     NOT NULL,
  phase     TEXT     NOT NULL,
  created   BIGINT   NOT NULL,
  decided   BIGINT   NOT NULL,
  bound     BIGINT   NOT NULL,
  started   BIGINT   NOT NULL,
  ended     BIGINT   NOT NULL,
  gone      SMALLINT NOT NULL,
  attempts  BIGINT   NOT NULL,
  last_at   BIGINT   NOT NULL,
  outcome   TEXT     NOT NULL,
  plugin    TEXT     NOT NULL,
  reason    TEXT     NOT NULL
);
CREATE INDEX pods_name ON pods (namespace, name);
-- In the order in which they are grouped; namespace only spares looking at the row.
CREATE INDEX pods_pending ON pods (plugin, reason, created, namespace) WHERE node = '' AND gone = 0;
CREATE INDEX pods_placed ON pods (ended, bound) WHERE node <> '';
CREATE INDEX pods_node ON pods (node, ended) WHERE node <> '';

-- One thing that happened to a pod or a node. identity is the same whoever tells it, and however often.
CREATE TABLE events (
  id        @IDENTITY@,
  identity  TEXT   NOT NULL UNIQUE,
  at        BIGINT NOT NULL,
  received  BIGINT NOT NULL,
  object    TEXT   NOT NULL,
  namespace TEXT   NOT NULL,
  name      TEXT   NOT NULL,
  uid       TEXT   NOT NULL,
  node      TEXT   NOT NULL,
  endpoint  TEXT   NOT NULL,
  event     TEXT   NOT NULL,
  reason    TEXT   NOT NULL,
  message   TEXT   NOT NULL,
  extra     TEXT   NOT NULL
);
CREATE INDEX events_at ON events (at, id);
CREATE INDEX events_name ON events (name, at, id);

CREATE TABLE nodes (
  uid     TEXT     NOT NULL PRIMARY KEY,
  name    TEXT     NOT NULL,
  zone    TEXT     NOT NULL,
  ready   SMALLINT NOT NULL,
  added   BIGINT   NOT NULL,
  removed BIGINT   NOT NULL
);
CREATE INDEX nodes_name ON nodes (name);

-- Histograms for charts: how many attempts of a namespace ended in a span of time with an outcome, and how long each
-- measure took, in buckets of equal ratio.
CREATE TABLE counts (
  at        BIGINT NOT NULL,
  namespace TEXT   NOT NULL,
  measure   TEXT   NOT NULL,
  bucket    BIGINT NOT NULL,
  n         BIGINT NOT NULL,
  PRIMARY KEY (at, namespace, measure, bucket)
);

-- How far each session has come, and what is missing of it.
CREATE TABLE sessions (
  session   TEXT   NOT NULL PRIMARY KEY,
  scheduler TEXT   NOT NULL,
  first_at  BIGINT NOT NULL,
  last_at   BIGINT NOT NULL,
  max_seq   BIGINT NOT NULL,
  stored    BIGINT NOT NULL
);
CREATE INDEX sessions_last ON sessions (last_at);
