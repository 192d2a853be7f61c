/** An address or a name as it is compared: without regard to case, to the form of its characters, and to blanks around it. */
export function canonicalName(text: string): string {
  return text.normalize("NFKC").trim().toLowerCase().normalize("NFKC");
}
