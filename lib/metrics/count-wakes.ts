import type { HubOptions, WaitHub } from "../waits/hub";

/** How often a change was heard of by its notice, and how often the sweep found one that no notice had told of yet. */
export type WakeCounts = { notice: number; sweep: number };

/** Counts from outside how parked waits learn of changes: `sources` are for the hub, `listener` is what notices of other processes go to. */
export function countWakes(sources: HubOptions): {
  counts: WakeCounts;
  sources: HubOptions;
  listener(hub: WaitHub): Pick<WaitHub, "notify" | "sweep">;
} {
  const counts = { notice: 0, sweep: 0 };
  return {
    counts,
    sources: {
      ...sources,
      readNews: async (seen, keyIds) => {
        const news = await sources.readNews(seen, keyIds);
        counts.sweep += news.changed.length;
        return news;
      },
    },
    listener: (hub) => ({
      notify: (id) => {
        counts.notice += 1;
        hub.notify(id);
      },
      sweep: () => hub.sweep(),
    }),
  };
}
