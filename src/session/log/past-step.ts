/** Schema for past requests: states along the log (`checkpoints`), and an index from a turn to its calls (`turn-calls`). */
export const PAST_STEP = `
  CREATE TABLE checkpoints (seq INTEGER PRIMARY KEY, version INTEGER NOT NULL, text TEXT NOT NULL);
  CREATE INDEX calls_by_turn ON events (json_extract(data, '$.turn'))
    WHERE type = 'ModelCallFinished' AND json_extract(data, '$.turn') IS NOT NULL;
`;
