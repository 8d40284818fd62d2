export declare const OWN_NODE: string;
export declare function runsTypeScript(version: string): boolean;
export declare function refuseNode(by: { readonly platform: string; readonly arch: string; readonly version: string }): string | null;
