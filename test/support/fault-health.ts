export type Health = ReturnType<typeof watchHealth>;

/** Asks `/readyz` of each port on this machine, again and again; an answer may take 3 s. */
export function watchHealth(targets: readonly number[], probeMs: number) {
  const healthy = targets.map(() => false);
  let refusals = 0;
  const probe = async (i: number) => {
    const answered = await fetch(`http://127.0.0.1:${targets[i]}/readyz`, { signal: AbortSignal.timeout(3_000) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
    healthy[i] = answered;
  };
  let isStopped = false;
  const watch = async (i: number) => {
    while (!isStopped) {
      await probe(i);
      await new Promise((resolve) => setTimeout(resolve, probeMs));
    }
  };
  for (const i of targets.keys()) void watch(i);
  return {
    isHealthy: (i: number) => healthy[i] === true,
    refused: (i: number) => {
      refusals += 1;
      healthy[i] = false;
    },
    refusals: () => refusals,
    untilHealthy: async (count: number) => {
      const endsAt = Date.now() + 60_000;
      while (healthy.filter(Boolean).length < count) {
        if (Date.now() > endsAt) throw new Error(`fewer than ${count} replicas were ready in time`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    stop: () => {
      isStopped = true;
    },
  };
}
