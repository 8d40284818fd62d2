/** The tables of a chat's object, as steps that never change after their release. */
import { applySchemaSteps, type SchemaSteps } from "../../lib/schema-steps";
import type { SyncSql } from "../../lib/sync-sql";

const STEPS: SchemaSteps = [
  [
    // place: JSON, of the newest turn that a person began here. person: JSON, who that was, without the name; null: a group.
    `CREATE TABLE address (
       one INTEGER PRIMARY KEY CHECK (one = 1),
       tenant TEXT NOT NULL,
       channel TEXT NOT NULL,
       conversation TEXT NOT NULL,
       place TEXT,
       person TEXT
     ) STRICT`,
    // Ids of deliveries, also of those that are done: a repetition finds its own.
    "CREATE TABLE claims (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX claims_by_time ON claims (at)",
    // body: JSON, the delivery. session: the current one when it was stored.
    `CREATE TABLE deliveries (
       seq INTEGER PRIMARY KEY AUTOINCREMENT,
       body TEXT NOT NULL,
       session TEXT,
       stored_at INTEGER NOT NULL,
       attempts INTEGER NOT NULL,
       not_before INTEGER NOT NULL
     ) STRICT`,
    // body: JSON, the audience. live: JSON, the message that grows while the turn runs.
    `CREATE TABLE turns (
       seq INTEGER PRIMARY KEY AUTOINCREMENT,
       turn TEXT NOT NULL UNIQUE,
       session TEXT NOT NULL,
       body TEXT NOT NULL,
       cursor INTEGER,
       live TEXT,
       is_answered INTEGER NOT NULL DEFAULT 0,
       not_before INTEGER NOT NULL,
       is_scheduled INTEGER NOT NULL DEFAULT 0,
       since INTEGER NOT NULL DEFAULT 0
     ) STRICT`,
    // body: JSON, the place, the text and the buttons. edits: the platform's id of the message that it replaces.
    `CREATE TABLE parts (
       seq INTEGER PRIMARY KEY AUTOINCREMENT,
       operation TEXT NOT NULL UNIQUE,
       session TEXT,
       turn TEXT,
       body TEXT NOT NULL,
       edits TEXT,
       is_first INTEGER NOT NULL,
       is_plain INTEGER NOT NULL,
       is_sending INTEGER NOT NULL,
       attempts INTEGER NOT NULL,
       not_before INTEGER NOT NULL,
       created_at INTEGER NOT NULL
     ) STRICT`,
    "CREATE INDEX parts_by_turn ON parts (turn) WHERE turn IS NOT NULL",
    // key: the chat, and the platform's id of a person's message. changed_at: when the person last changed it, by the platform.
    `CREATE TABLE messages (
       key TEXT PRIMARY KEY,
       session TEXT NOT NULL,
       item TEXT NOT NULL,
       turn TEXT,
       at INTEGER NOT NULL,
       changed_at INTEGER
     ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX messages_by_session ON messages (session, at)",
    "CREATE INDEX messages_by_time ON messages (at)",
    // act: JSON. person: the token of the one who may press it. Null: no one in particular.
    `CREATE TABLE buttons (
       data TEXT PRIMARY KEY,
       question TEXT NOT NULL,
       session TEXT,
       person TEXT,
       act TEXT NOT NULL,
       expires_at INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    // followed: the newest event of the session's log whose turn is followed, or was.
    "CREATE TABLE sessions (generation INTEGER PRIMARY KEY, session TEXT, followed INTEGER NOT NULL DEFAULT 0) STRICT",
    "CREATE TABLE times (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE sent (one INTEGER PRIMARY KEY CHECK (one = 1), times TEXT NOT NULL) STRICT",
    // Edits and deletions that came before their message. key: the digest of the message's. body: JSON, the text, or null of a deletion.
    `CREATE TABLE early_changes (
       seq INTEGER PRIMARY KEY AUTOINCREMENT,
       key TEXT NOT NULL UNIQUE,
       body TEXT NOT NULL,
       session TEXT,
       at INTEGER NOT NULL,
       expires_at INTEGER NOT NULL
     ) STRICT`,
  ],
];

/** Brings the tables to this build's version. Call it inside a transaction. */
export const migrateChat = (sql: SyncSql): void => applySchemaSteps(sql, STEPS);
