const SLOTS = 16_384;
/** CRC16 (XMODEM) of each byte. */
const TABLE: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
  return crc & 0xffff;
});

/** The slot of a key in a Redis Cluster. If the key has a part in braces, only that part counts. */
export function hashSlot(key: string): number {
  const start = key.indexOf("{");
  const end = start < 0 ? -1 : key.indexOf("}", start + 1);
  const hashed = end > start + 1 ? key.slice(start + 1, end) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] ?? 0);
  return crc % SLOTS;
}
