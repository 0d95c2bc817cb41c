import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { products } from '../data/products';

interface CartState {
  items: Record<string, number>;
  open: boolean;
  add: (slug: string) => void;
  setQuantity: (slug: string, quantity: number) => void;
  setOpen: (open: boolean) => void;
  clear: () => void;
}

export const useCart = create<CartState>()(
  persist(
    (set) => ({
      items: {},
      open: false,
      add: (slug) => set(({ items }) => ({ items: { ...items, [slug]: (items[slug] ?? 0) + 1 }, open: true })),
      setQuantity: (slug, quantity) =>
        set(({ items }) => {
          const next = { ...items, [slug]: quantity };
          if (quantity <= 0) delete next[slug];
          return { items: next };
        }),
      setOpen: (open) => set({ open }),
      clear: () => set({ items: {}, open: false }),
    }),
    { name: 'kiln-and-linen', partialize: ({ items }) => ({ items }) },
  ),
);

export function useCartLines() {
  const items = useCart((state) => state.items);
  const lines = products.filter(({ slug }) => items[slug]).map((product) => ({ product, quantity: items[product.slug] }));
  const subtotal = lines.reduce((sum, { product, quantity }) => sum + product.price * quantity, 0);
  const shipping = subtotal === 0 || subtotal >= 100 ? 0 : 8;
  return { lines, subtotal, shipping, count: lines.reduce((sum, { quantity }) => sum + quantity, 0) };
}
