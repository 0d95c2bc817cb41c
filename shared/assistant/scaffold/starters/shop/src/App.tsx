import { AnimatePresence } from 'framer-motion';
import { ShoppingBag } from 'lucide-react';
import { Link, Route, Routes } from 'react-router-dom';
import { CartDrawer } from './components/CartDrawer';
import { Catalog } from './pages/Catalog';
import { Checkout } from './pages/Checkout';
import { ProductPage } from './pages/ProductPage';
import { useCart, useCartLines } from './store/cart';

function Header() {
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

function App() {
  const open = useCart((state) => state.open);
  return (
    <div className="flex min-h-screen flex-col">
      <Header />
      <main className="mx-auto w-full max-w-6xl flex-1 px-5 pb-20">
        <Routes>
          <Route path="/" element={<Catalog />} />
          <Route path="/pieces/:slug" element={<ProductPage />} />
          <Route path="/checkout" element={<Checkout />} />
        </Routes>
      </main>
      <footer className="border-t border-line px-5 py-8 text-center text-sm text-soft">
        Made by hand in small batches. Every piece is a little different.
      </footer>
      <AnimatePresence>{open && <CartDrawer />}</AnimatePresence>
    </div>
  );
}

export default App;
