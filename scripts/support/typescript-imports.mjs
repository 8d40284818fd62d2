/**
 * Lets Node run this repository's TypeScript: imports name no file extension (`./ids`), which bundlers resolve and
 * Node does not. Loaded with `--import`; types are stripped by Node itself.
 */
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, nextResolve) {
    const ours = !context.parentURL?.includes("/node_modules/");
    const extensionless = ours && specifier.startsWith(".") && !/\.[cm]?[jt]sx?$|\.json$/.test(specifier);
    return nextResolve(extensionless ? `${specifier}.ts` : specifier, context);
  },
});
