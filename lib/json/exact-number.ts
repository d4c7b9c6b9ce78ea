/**
 * Says whether a number is one that every JSON reader holds alike: finite, not negative zero, and within ±(2^53−1) when it
 * is an integer (RFC 7493 section 2.2).
 */
function isExactDouble(value: number): boolean {
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

/**
 * Says whether a JSON number, as written, is the number that the reader receives.
 *
 * `source` must match the grammar of RFC 8259 section 6. It is exact when the shortest decimal that reads back as the same
 * double has the same mathematical value: `0.1`, `1.10` and `1e2` are, `0.10000000000000000555` and `1e-400` are not.
 */
export function isExactNumber(source: string, value: number): boolean {
  if (!isExactDouble(value)) return false;
  const shortest = String(value);
  if (shortest === source) return true;
  const [written, received] = [toDecimal(source), toDecimal(shortest)];
  return written.digits === received.digits && written.exponent === received.exponent;
}

type Decimal = { readonly digits: string; readonly exponent: number };

/**
 * The magnitude as `digits` × 10^`exponent`, without leading or trailing zeros. The exponent stays a small exact number
 * because a finite double other than zero cannot come from text whose exponent is larger than its length by more than 400.
 */
function toDecimal(text: string): Decimal {
  const [mantissa = "", power = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const all = whole + fraction;
  // Counted by hand: a regular expression for trailing zeros takes quadratic time on zeros followed by another digit.
  let end = all.length;
  while (end > 0 && all[end - 1] === "0") end -= 1;
  let start = 0;
  while (start < end && all[start] === "0") start += 1;
  if (start === end) return { digits: "", exponent: 0 };
  return { digits: all.slice(start, end), exponent: Number(power) - fraction.length + (all.length - end) };
}
