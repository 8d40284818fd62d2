/** The status that clients show while a compaction runs. */
export const COMPACTING_STATUS = "Optimizing conversation context…";
