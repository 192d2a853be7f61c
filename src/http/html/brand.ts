import { ConfigurationError } from "../../core/configuration-error.ts";
import { FeatureSlot } from "../../core/feature-slot.ts";
import { anything, resolveOptions, textLike, urlPath } from "../../core/resolve-options.ts";
import { escapeHtml } from "./escape-html.ts";
import { sourceHash } from "./html-headers.ts";
import { englishTexts, faultOfTexts, type PageTexts } from "./page-texts.ts";

/**
 * How the pages look that Portico serves to people: sign-in, account, errors. Their heading is the `title` of the application.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 *
 * const app = new PorticoApp({ title: "Bookshop", brand: { logo: "/logo.svg", accent: "#7a3b2e" } });
 * ```
 */
export interface BrandOptions {
  /** The path of an image of this application, 32 pixels high, beside the name. @default none */
  readonly logo?: `/${string}`;
  /** The colour of the most important button of a page. The text on it is black or white, whichever is easier to read. @default "#2b59c3" */
  readonly accent?: `#${string}`;
  /** The texts of the pages and of the emails, in the language of the people who read them. @default englishTexts */
  readonly texts?: PageTexts;
}

const brandRules = {
  logo: urlPath,
  accent: textLike<`#${string}`>('a colour such as "#7a3b2e"', /^#[\da-f]{6}$/i),
  // `faultOfTexts` names the text that is wrong.
  texts: anything,
};

/** The name, the logo and the colours of an application, ready for its pages. */
export class Brand {
  /** The line above a page; empty without a name and a logo. */
  readonly header: string;
  /** A style sheet with the colours, and the source that a policy must allow for it. */
  readonly style: string;
  readonly styleSource: string;
  /** The sources of images: a page needs no request for its icon and for a QR code. */
  readonly imageSources: readonly string[];
  readonly name: string;
  readonly accent: string;
  /** The text on the accent. */
  readonly onAccent: string;
  readonly texts: PageTexts;

  constructor(name: string, options: BrandOptions) {
    const { logo, accent = "#2b59c3" } = resolveOptions("PorticoApp.brand", options, brandRules);
    const { texts = englishTexts } = options;
    const fault = texts === englishTexts ? undefined : faultOfTexts(texts);
    if (fault !== undefined) throw new ConfigurationError("PorticoApp.brand.texts", fault);
    this.name = name;
    this.texts = texts;
    this.accent = accent;
    this.onAccent = isDark(accent) ? "#fff" : "#000";
    const parts = [
      ...(logo === undefined ? [] : [`<img src="${escapeHtml(logo)}" alt="">`]),
      ...(name === "" ? [] : [`<span>${escapeHtml(name)}</span>`]),
    ];
    this.header = parts.length === 0 ? "" : `<header class="brand">${parts.join("")}</header>\n`;
    this.style = `:root{--accent:${accent};--on-accent:${this.onAccent}}`;
    this.styleSource = sourceHash(this.style);
    this.imageSources = logo === undefined ? ["data:"] : ["'self'", "data:"];
  }
}

/** The brand of an application. Its name is empty where the application has none. */
export const brandOf: FeatureSlot<Brand> = new FeatureSlot(new Brand("", {}));

/** Whether white text is easier to read on a colour than black, by their contrast in WCAG 2. */
function isDark(colour: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  // Both texts have the same contrast at 0.179.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179;
}
