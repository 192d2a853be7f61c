import { writeFileSync } from "node:fs";
import { type Alert, alerts } from "./dashboard/alerts.ts";
import { type Panel, rows } from "./dashboard/panels.ts";

const WIDTH = 24;
const PANEL = { w: 8, h: 8 };
const DATA_SOURCE = { type: "prometheus", uid: "${datasource}" };

/** The dashboard in Grafana's format, to be imported. */
export function dashboard(): object {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: inRow } of rows) {
    panels.push({ type: "row", title, id: panels.length + 1, gridPos: { x: 0, y, w: WIDTH, h: 1 }, panels: [] });
    y++;
    inRow.forEach((panel, index) => {
      const x = (index * PANEL.w) % WIDTH;
      panels.push(timeSeries(panel, panels.length + 1, { x, y: y + Math.floor((index * PANEL.w) / WIDTH) * PANEL.h }));
    });
    y += Math.ceil((inRow.length * PANEL.w) / WIDTH) * PANEL.h;
  }
  return {
    uid: "portico",
    title: "Portico",
    tags: ["portico"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-1h", to: "now" },
    templating: {
      list: [
        { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
        variable("job", "label_values(nodejs_eventloop_utilization_ratio, job)"),
        { ...variable("instance", 'label_values(nodejs_eventloop_utilization_ratio{job="$job"}, instance)'), ...ALL },
      ],
    },
    panels,
  };
}

const ALL = { includeAll: true, multi: true, allValue: ".*", current: { text: "All", value: "$__all" } };

function variable(name: string, query: string): object {
  return { name, type: "query", datasource: DATA_SOURCE, query: { query, refId: name }, refresh: 2 };
}

function timeSeries(
  { title, help, unit, queries }: Panel,
  id: number,
  at: { readonly x: number; readonly y: number },
): object {
  return {
    id,
    type: "timeseries",
    title,
    description: help,
    datasource: DATA_SOURCE,
    gridPos: { ...at, ...PANEL },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi" } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATA_SOURCE,
      expr,
      legendFormat: legend,
    })),
  };
}

/** The alert rules in Prometheus' format. */
export function alertRules(): string {
  return ["groups:", "  - name: portico", "    rules:", ...alerts.flatMap(rule), ""].join("\n");
}

function rule({ name, expr, hold, severity, summary }: Alert): readonly string[] {
  return [
    `      - alert: ${name}`,
    `        expr: ${JSON.stringify(expr)}`,
    `        for: ${hold}`,
    `        labels: { severity: ${severity} }`,
    `        annotations: { summary: ${JSON.stringify(summary)} }`,
  ];
}

/** The files, by their paths in the repository. */
export function dashboardFiles(): Readonly<Record<string, string>> {
  return {
    "docs/public/grafana-dashboard.json": `${JSON.stringify(dashboard(), null, 2)}\n`,
    "docs/public/prometheus-alerts.yml": alertRules(),
  };
}

if (import.meta.main)
  for (const [path, text] of Object.entries(dashboardFiles()))
    writeFileSync(new URL(`../${path}`, import.meta.url), text);
