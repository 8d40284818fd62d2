/**
 * Lets Node run this repository's TypeScript. Imports have no file extension (`./ids`), which bundlers resolve and Node
 * does not. Loaded with `--import`; Node itself strips the types.
 */
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, nextResolve) {
    const ours = !context.parentURL?.includes("/node_modules/");
    const extensionless = ours && specifier.startsWith(".") && !/\.[cm]?[jt]sx?$|\.json$/.test(specifier);
    return nextResolve(extensionless ? `${specifier}.ts` : specifier, context);
  },
});
