/** Follows the light or dark mode of the reader's system. */
export const OPERATIONS_STYLE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f5f6f8, #14171c);
  --card: light-dark(#ffffff, #1d2128);
  --line: light-dark(#e2e5ea, #2d333d);
  --text: light-dark(#1b1f26, #e8eaee);
  --quiet: light-dark(#5d6673, #9aa3b0);
  --busy: light-dark(#2563eb, #6ea0ff);
  --slow: light-dark(#b45309, #f0a63c);
  --fail: light-dark(#c81e2b, #ff7b7f);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 24px; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 12px; margin-bottom: 20px; }
h1 { font-size: 22px; margin: 0; flex: 1; }
h2 { font-size: 15px; margin: 0 0 2px; }
p { margin: 0; }
.quiet, small { color: var(--quiet); font-size: 13px; }
.number { font-variant-numeric: tabular-nums; }
button { font: inherit; font-size: 13px; color: var(--text); background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 5px 12px; cursor: pointer; }
button[aria-pressed="true"] { background: var(--text); color: var(--page); border-color: var(--text); }
a { color: var(--busy); }
button:focus-visible, a:focus-visible, .scroll:focus-visible { outline: 2px solid var(--busy); outline-offset: 2px; }
#state::before { content: ""; display: inline-block; width: 8px; height: 8px; margin-right: 7px; border-radius: 50%; background: #22a35a; }
#state[data-state="late"]::before { background: var(--fail); }
#state[data-state="paused"]::before { background: var(--quiet); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px 18px; }
.tiles, .panels { display: grid; gap: 16px; margin-bottom: 16px; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); }
.panels { grid-template-columns: repeat(auto-fit, minmax(min(260px, 100%), 1fr)); }
.tile { display: grid; grid-template-columns: 1fr auto; align-items: end; column-gap: 12px; }
.tile strong { font-size: 28px; line-height: 1.2; font-weight: 650; }
.tile p, .tile strong, .tile small { grid-column: 1; }
.tile svg { grid-column: 2; grid-row: 1 / span 3; }
#saturation { margin-bottom: 16px; }
#saturation ol { grid-template-columns: repeat(auto-fit, minmax(260px, 1fr)); gap: 14px 28px; }
#saturation li, #codes li { grid-template-columns: minmax(0, 1fr) auto; }
#codes .name { font-size: 13px; overflow-wrap: anywhere; white-space: normal; }
#codes .value { min-width: 0; }
ol { list-style: none; margin: 14px 0 0; padding: 0; display: grid; gap: 14px; }
li { display: grid; grid-template-columns: minmax(0, 1fr) auto auto; align-items: center; column-gap: 12px; row-gap: 4px; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 550; }
.value { min-width: 64px; text-align: right; font-weight: 650; }
.bar { grid-column: 1 / -1; height: 6px; border-radius: 3px; background: var(--line); overflow: hidden; }
.bar i { display: block; height: 100%; border-radius: 3px; background: var(--tone); transition: width 0.4s; }
.id { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
li small { grid-column: 1 / -1; }
svg { display: block; overflow: visible; }
svg polyline { fill: none; stroke: var(--tone); stroke-width: 1.5; stroke-linejoin: round; }
svg polygon { fill: var(--tone); opacity: 0.14; }
.busy { --tone: var(--busy); }
.slow { --tone: var(--slow); }
.fail { --tone: var(--fail); }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; margin-top: 10px; }
th, td { padding: 6px 8px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
th:first-child, td:first-child { text-align: left; width: 99%; }
th button { border: 0; padding: 2px 0; background: none; color: var(--quiet); }
th[aria-sort] button { color: var(--text); font-weight: 650; }
th[aria-sort] button::after { content: " \\2193"; }
td.bad { color: var(--fail); font-weight: 650; }
@media (prefers-reduced-motion: reduce) { .bar i { transition: none; } }
`;
