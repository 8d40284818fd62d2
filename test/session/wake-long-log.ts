/** A program: a session's object wakes with a log of so many events that another state version folded. Prints whether its state is right. */
import { isDeepStrictEqual } from "node:util";
import { createNodeSql } from "../../scripts/support/node-sql";
import { loadState } from "../../src/session/log/snapshots";
import { writeLongLog } from "./long-log";

const sql = createNodeSql();
const written = writeLongLog(sql, Number(process.argv[2]));
const { state } = loadState(sql);
const plain = (value: object): unknown => JSON.parse(JSON.stringify(value));
console.log(JSON.stringify({ events: state.seq, isRight: isDeepStrictEqual(plain(state), plain(written)) }));
