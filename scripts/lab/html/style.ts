/** The page's style: its own colours for light and dark mode, without external resources. */

/** Colours that are distinguishable on both backgrounds. */
const LIGHT = [
  "#1f6feb",
  "#c2410c",
  "#15803d",
  "#9333ea",
  "#b91c1c",
  "#0e7490",
  "#a16207",
  "#be185d",
  "#475569",
  "#4d7c0f",
  "#6d28d9",
  "#0f766e",
];
const DARK = [
  "#6ea8fe",
  "#fb923c",
  "#4ade80",
  "#c084fc",
  "#f87171",
  "#22d3ee",
  "#facc15",
  "#f472b6",
  "#cbd5e1",
  "#a3e635",
  "#a78bfa",
  "#2dd4bf",
];
export const TONES = LIGHT.length;

const tones = (colors: readonly string[]): string => colors.map((color, at) => `--tone-${at}:${color};`).join("");
const classes = LIGHT.map(
  (_, at) => `.tone-${at}{stroke:var(--tone-${at})}.fill-${at}{fill:var(--tone-${at});background:var(--tone-${at})}`,
).join("");

export const STYLE = `
:root{color-scheme:light dark;--ground:#ffffff;--ink:#1b1f24;--soft:#5b6470;--edge:#d8dee4;--stripe:#f6f8fa;${tones(LIGHT)}}
@media (prefers-color-scheme:dark){:root{--ground:#14171b;--ink:#e6e9ed;--soft:#9aa4b0;--edge:#343b44;--stripe:#1b2026;${tones(DARK)}}}
body{margin:0 auto;max-width:1180px;padding:24px 20px 64px;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:24px;margin:0 0 4px}h2{font-size:20px;margin:40px 0 8px;border-top:1px solid var(--edge);padding-top:24px}h3{font-size:15px;margin:24px 0 6px}
p{color:var(--soft);margin:4px 0 12px;max-width:75ch}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px;width:100%}
th,td{padding:4px 6px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--edge)}
th:first-child,td:first-child{text-align:left}th{color:var(--soft);font-weight:600}tbody tr:nth-child(even){background:var(--stripe)}
.key{display:flex;flex-wrap:wrap;gap:4px 14px;font-size:13px;margin:4px 0}
.key span{display:inline-flex;align-items:center;gap:6px}.key i{width:12px;height:3px;border-radius:2px}
svg{width:100%;height:auto;display:block}
.grid{stroke:var(--edge);stroke-width:1}.level{stroke:var(--ink);stroke-dasharray:5 4;stroke-width:1}
.line{fill:none;stroke-width:1.4;stroke-linejoin:round}.tick{fill:var(--soft);font-size:11px}.label{fill:var(--ink);font-size:12px}
.lead{stroke:var(--soft);stroke-width:.8}.name{fill:var(--ink);font-size:11px}.dot{stroke:var(--ground);stroke-width:1.5}.mark{stroke:none}
${classes}`;
