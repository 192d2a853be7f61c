/** Enough to be readable. An application that wants a design replaces the pages. */
export const PAGE_STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 34rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
label { display: block; }
input { font: inherit; }
input:not([type="checkbox"]) { box-sizing: border-box; width: 100%; padding: 0.4rem; }
input[type="checkbox"] + label { display: inline; }
button { font: inherit; padding: 0.4rem 0.8rem; }
li { margin: 0.4rem 0; }
section { margin-top: 2rem; }
img { background: white; padding: 0.5rem; width: 12rem; height: 12rem; }
[role]:empty { margin: 0; }
[hidden] { display: none; }
.error:not(:empty) { border: 1px solid; border-left-width: 0.5rem; padding: 0.5rem; }
`;
