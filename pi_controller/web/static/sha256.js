// SHA-256 (FIPS 180-4) for pages on plain HTTP, where the browser's own is not available.
// @ts-check

/** Return the first 32 bits of the fractional part of the `root`-th root of each of the first `count` primes. */
function fractions(/** @type {number} */ root, /** @type {number} */ count) {
  const found = [];
  for (let n = 2; found.length < count; n += 1) {
    let prime = true;
    for (let d = 2; d * d <= n; d += 1) if (n % d === 0) prime = false;
    if (prime) found.push(fraction(BigInt(n), root));
  }
  return Uint32Array.from(found);
}

/** Return the first 32 bits of the fractional part of a root of `n`, exactly. */
function fraction(/** @type {bigint} */ n, /** @type {number} */ root) {
  const wanted = n << BigInt(32 * root);
  let low = 0n;
  for (let bit = 1n << 40n; bit; bit >>= 1n) if ((low | bit) ** BigInt(root) <= wanted) low |= bit;
  return Number(low & 0xffffffffn);
}

const START = fractions(2, 8);
const K = fractions(3, 64);

const turned = (/** @type {number} */ x, /** @type {number} */ by) => (x >>> by) | (x << (32 - by));

/** Return the SHA-256 of `bytes` as 64 lower case hex digits. */
export function sha256(/** @type {Uint8Array} */ bytes) {
  const whole = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  whole.set(bytes);
  whole[bytes.length] = 0x80;
  const data = new DataView(whole.buffer);
  data.setUint32(whole.length - 8, Math.floor(bytes.length / 0x20000000));
  data.setUint32(whole.length - 4, bytes.length << 3);
  const hash = Uint32Array.from(START);
  const w = new Uint32Array(64);
  for (let at = 0; at < whole.length; at += 64) {
    for (let i = 0; i < 16; i += 1) w[i] = data.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const s0 = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i += 1) {
      const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const one = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    for (const [i, x] of [a, b, c, d, e, f, g, h].entries()) hash[i] += x;
  }
  return [...hash].map((word) => word.toString(16).padStart(8, "0")).join("");
}
