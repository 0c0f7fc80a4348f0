const euros = new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" });

/** An amount of cents as people read it. */
export function formatCents(cents: number): string {
  return euros.format(cents / 100);
}

/** A share of a hundred as people read it. */
export function formatPercent(percent: number): string {
  return `${percent} %`;
}
