/**
 * Whether the process is on its way out. From `begin` on `/readyz` says so, while listeners and waits go on for the grace that a load
 * balancer needs to see it; the hub's own draining, which ends the waits, comes after.
 */
export function createDraining(): Draining {
  let isBegun = false;
  return {
    begin: () => {
      isBegun = true;
    },
    isBegun: () => isBegun,
  };
}

export type Draining = { begin(): void; isBegun(): boolean };
