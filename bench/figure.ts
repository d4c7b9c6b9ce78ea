/** A row of the table. */
export type Figure = { name: string; value: string; baseline: string; ratio: string };

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
export const perSecond = (value: number): string => `${Math.round(value).toLocaleString("en")}/s`;
export const times = (ratio: number): string => `${ratio.toFixed(2)} ×`;
