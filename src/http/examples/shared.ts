/** What the examples share. Their ids and times agree, so that a reader can follow one conversation through the document. */

const ULID = "01JD8Z3V6Q4N7R2T5W9X0Y1AB";

export const SESSION = `ses_${ULID}C`;
export const QUESTION = `msg_${ULID}D`;
export const ANSWER = `msg_${ULID}E`;
export const TURN = `trn_${ULID}F`;
export const EXECUTION = `exe_${ULID}G`;
export const COMPACTION = `cmp_${ULID}H`;
export const KEY = `key_${ULID}J`;
/** The key in whose place `KEY` came. */
export const OLD_KEY = `key_${ULID}Q`;
export const ADMIN_KEY_ID = `adm_${ULID}R`;
export const ACCESS_TOKEN_ID = `tok_${ULID}P`;
export const TENANT = `ten_${ULID}K`;
export const FORK = `ses_${ULID}M`;
export const ERASURE = `era_${ULID}S`;
export const FILE = `fil_${ULID}P`;
export const EXPORT = `exp_${ULID}S`;
export const REVERSAL = `cmp_${ULID}N`;

/** 22 November 2026. */
export const AT = 1_795_345_200_000;
export const SECOND = 1_000;

/** A list whose first page is its last. */
export const onePage = <T>(...data: readonly T[]) => ({ data, has_more: false, next_cursor: null });
