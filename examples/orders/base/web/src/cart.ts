import { formatCents } from "./format";

export interface CartLine {
  sku: string;
  quantity: number;
  unitPriceCents: number;
}

/** What the cart costs. */
export function totalCents(lines: CartLine[]): number {
  return lines.reduce((sum, line) => sum + line.quantity * line.unitPriceCents, 0);
}

/** The line below the cart. */
export function summary(lines: CartLine[]): string {
  const pieces = lines.reduce((sum, line) => sum + line.quantity, 0);
  return `${pieces} pieces, ${formatCents(totalCents(lines))}`;
}
