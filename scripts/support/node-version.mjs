/** Checks which Node can run the project, before anything is installed. Plain JavaScript for Node >= 20, like scripts/run.mjs. */

/** package.json installs its own Node for this platform. The system's Node only has to start it. */
export const OWN_NODE = "linux-x64";
const LEAST_TO_START = 20;

/** Scripts are TypeScript, whose types Node strips: without a flag since 22.18 and 23.6. */
export function runsTypeScript(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);
}

/** The reason why this Node cannot be used. Null when it can. */
export function refuseNode({ platform, arch, version }) {
  if (platform === "win32") {
    return "Longhand does not run on Windows itself: its scripts end whole groups of processes, as POSIX systems can. Use WSL (wsl --install), and clone and run it there.";
  }
  const own = `${platform}-${arch}` === OWN_NODE;
  if (own ? Number.parseInt(version, 10) >= LEAST_TO_START : runsTypeScript(version)) return null;
  const least = own ? `Node ${LEAST_TO_START} or newer to start the one that it brings` : "Node 22.18 or newer (of 23: 23.6)";
  return `Longhand needs ${least} on ${platform}-${arch}; this is ${version}.`;
}
