/** Whether this process has run no test file before. A module keeps its state from file to file. */
let first = true;

/** True for the first call. */
export function isFirstFile(): boolean {
  const was = first;
  first = false;
  return was;
}
