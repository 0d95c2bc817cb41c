import { ShoppingBag } from 'lucide-react';
import { Link } from 'react-router-dom';
import { useCart, useCartLines } from '../store/cart';

export function Header() {
  const setOpen = useCart((state) => state.setOpen);
  const { count } = useCartLines();
  return (
    <header className="sticky top-0 z-20 border-b border-line bg-paper/90 backdrop-blur">
      <div className="mx-auto flex h-16 max-w-6xl items-center justify-between px-5">
        <Link to="/" className="font-display text-xl font-semibold tracking-tight">
          Kiln & Linen
        </Link>
        <button
          onClick={() => setOpen(true)}
          className="flex items-center gap-2 rounded-full border border-line bg-raised px-4 py-2 text-sm transition hover:border-clay"
        >
          <ShoppingBag className="h-4 w-4" aria-hidden="true" />
          Basket
          {count > 0 && <span className="rounded-full bg-clay px-2 text-xs text-white">{count}</span>}
        </button>
      </div>
    </header>
  );
}
