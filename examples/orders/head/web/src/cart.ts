import { formatCents } from "./money";

export interface CartLine {
  sku: string;
  quantity: number;
  unitPriceCents: number;
}

/** What the cart costs. */
export function totalCents(lines: CartLine[]): number {
  return lines.reduce((sum, line) => sum + line.quantity * line.unitPriceCents, 0);
}

/** The cart after the customer typed a new quantity; a line with none of its article is dropped. */
export function withQuantity(lines: CartLine[], sku: string, typed: string): CartLine[] {
  const quantity = Number.parseInt(typed, 10) || 1;
  return lines
    .map((line) => (line.sku === sku ? { ...line, quantity } : line))
    .filter((line) => line.quantity > 0);
}

/** The line below the cart. */
export function summary(lines: CartLine[]): string {
  const pieces = lines.reduce((sum, line) => sum + line.quantity, 0);
  return `${pieces} pieces, ${formatCents(totalCents(lines))}`;
}
