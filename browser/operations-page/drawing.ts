const SVG = "http://www.w3.org/2000/svg";

/** An element with a text. */
export function element(tag: string, className = "", text = ""): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** A name that may be cut off. The whole name appears under the pointer. */
export function nameElement(name: string): HTMLElement {
  const made = element("span", "name", name);
  made.title = name;
  return made;
}

/** Makes a name a link. */
export function linked(name: HTMLElement, address: string): HTMLElement {
  const link = document.createElement("a");
  link.href = address;
  link.textContent = name.textContent;
  name.replaceChildren(link);
  return name;
}

/** A bar that is filled to a share from 0 to 1. */
export function bar(share: number): HTMLElement {
  const made = element("div", "bar");
  const filled = document.createElement("i");
  filled.style.width = `${100 * share}%`;
  made.append(filled);
  return made;
}

/** Draws how a figure changed; the newest value is at the right. */
export function line(values: readonly number[], width: number, height: number): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  svg.setAttribute("aria-hidden", "true");
  const most = Math.max(...values) || 1;
  const step = width / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(height - 1 - (value / most) * (height - 3)).toFixed(1)}`,
  );
  const area = document.createElementNS(SVG, "polygon");
  area.setAttribute("points", [`0,${height}`, ...points, `${width},${height}`].join(" "));
  const stroke = document.createElementNS(SVG, "polyline");
  stroke.setAttribute("points", points.join(" "));
  svg.append(area, stroke);
  return svg;
}
