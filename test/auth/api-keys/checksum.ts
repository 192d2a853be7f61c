export const ALPHABET: string = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Six digits to the base of 62, computed on its own: bit by bit, by the polynomial of CRC-32. */
export function checksum(text: string): string {
  let value = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  let rest = BigInt((value ^ 0xffffffff) >>> 0);
  let digits = "";
  for (; digits.length < 6; rest /= 62n) digits = ALPHABET.charAt(Number(rest % 62n)) + digits;
  return digits;
}
