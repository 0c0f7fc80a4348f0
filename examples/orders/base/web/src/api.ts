export interface Order {
  id: string;
  status: "open" | "paid" | "shipped";
  total_cents: number;
}

/** One order of the customer who is logged in. */
export async function fetchOrder(id: string): Promise<Order> {
  const response = await fetch(`/orders/${encodeURIComponent(id)}`);
  if (!response.ok) {
    throw new Error(`order ${id}: ${response.status}`);
  }
  return response.json();
}
