export interface Order {
  id: string;
  status: "open" | "paid" | "shipped" | "refunded";
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

/** The orders behind some ids, in the order of the ids. */
export async function fetchOrders(ids: string[]): Promise<Order[]> {
  const orders: Order[] = [];
  for (const id of ids) {
    orders.push(await fetchOrder(id));
  }
  return orders;
}

/** Give articles back; what the customer gets for them, in cents. */
export async function refundOrder(id: string, skus: string[], reason: string): Promise<number> {
  const response = await fetch(`/orders/${encodeURIComponent(id)}/refund`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ skus, reason }),
  });
  if (!response.ok) {
    throw new Error(`refund of ${id}: ${response.status}`);
  }
  const answer: { amount_cents: number } = await response.json();
  return answer.amount_cents;
}

/** Give back whole orders, of those that are paid and not shipped yet. */
export async function refundPaid(ids: string[], reason: string): Promise<void> {
  const paid = ids.filter(async (id) => {
    return (await fetchOrder(id)).status === "paid";
  });
  await Promise.all(paid.map((id) => refundOrder(id, [], reason)));
}
