/** Breaks a text between words; a word that is too long is broken where it must be. */
export function wrap(text: string, width: number): readonly string[] {
  if (text.length <= width || width === 0) return [text];
  const space = text.lastIndexOf(" ", width);
  const at = space > 0 ? space : width;
  return [text.slice(0, at).trimEnd(), ...wrap(text.slice(at).trimStart(), width)];
}
