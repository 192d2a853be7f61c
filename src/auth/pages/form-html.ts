import { escapeHtml } from "../../http/html/escape-html.ts";

/** A labelled input. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "email" | "password" | "checkbox";
  readonly autocomplete?: string;
  readonly isOptional?: boolean;
  readonly isFocused?: boolean;
}

/** A form that the script sends as JSON. Its error is described for every input, and gets the focus. */
export function formHtml(id: string, submit: string, fields: readonly FormField[] = [], isHidden = false): string {
  return `<form id="${id}" method="post"${isHidden ? " hidden" : ""}>
${messagesHtml(id)}
${fields.map((field) => fieldHtml(id, field)).join("\n")}
<p><button>${escapeHtml(submit)}</button></p>
</form>`;
}

/** A part of a page with its own heading and messages. */
export function sectionHtml(id: string, title: string, ...content: readonly string[]): string {
  return `<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title" tabindex="-1">${escapeHtml(title)}</h2>
${messagesHtml(id)}
${content.filter((part) => part !== "").join("\n")}
</section>`;
}

export function linkHtml(href: string, text: string): string {
  return `<p><a href="${escapeHtml(href)}">${escapeHtml(text)}</a></p>`;
}

function messagesHtml(id: string): string {
  return `<p id="${id}-error" class="error" role="alert" tabindex="-1"></p>
<p id="${id}-status" role="status" tabindex="-1"></p>`;
}

function fieldHtml(form: string, field: FormField): string {
  const { name, label, type = "text", autocomplete = "off", isOptional = false, isFocused = false } = field;
  const id = `${form}-${name}`;
  const flags = `${isOptional ? "" : " required"}${isFocused ? " autofocus" : ""}`;
  if (type === "checkbox")
    return `<p><input id="${id}" name="${name}" type="checkbox"> <label for="${id}">${escapeHtml(label)}</label></p>`;
  return `<p><label for="${id}">${escapeHtml(label)}</label>
<input id="${id}" name="${name}" type="${type}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false" aria-describedby="${form}-error"${flags}></p>`;
}
