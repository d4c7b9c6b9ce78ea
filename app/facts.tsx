import type { ReactNode } from "react";

/** Facts about one thing: name beside value where there is room. */
export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="card mt-4">
      {facts.map(([label, value]) => (
        <div className="row sm:grid sm:grid-cols-[12rem_1fr] sm:gap-4" key={label}>
          <dt className="label">{label}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
