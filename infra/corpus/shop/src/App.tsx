import { AnimatePresence } from 'framer-motion';
import { Route, Routes } from 'react-router-dom';
import { CartDrawer } from './components/CartDrawer';
import { Header } from './components/Header';
import { Catalog } from './pages/Catalog';
import { Checkout } from './pages/Checkout';
import { ProductPage } from './pages/ProductPage';
import { useCart } from './store/cart';

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
