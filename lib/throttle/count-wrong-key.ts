import type { Service } from "../process";
import { type Counted, countVolume, volumeOf } from "./volume";

/** Wrong API keys that a network may send in a minute. */
export const wrongKeysMax = 20;

/**
 * Counts a wrong API key from this address, or says how long it has to wait: at most `wrongKeysMax` are counted in the minute that began
 * with the first of them, one more is refused first, and all that follow change nothing.
 */
export function countWrongKey(service: Service, address: string | undefined): Promise<Counted> {
  return countVolume(service.pool, volumeOf(service.secrets, "api_key", address, wrongKeysMax));
}
