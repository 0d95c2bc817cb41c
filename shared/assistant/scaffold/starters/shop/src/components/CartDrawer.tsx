import { motion } from 'framer-motion';
import { Minus, Plus, X } from 'lucide-react';
import { Link } from 'react-router-dom';
import { price } from '../data/products';
import { useCart, useCartLines } from '../store/cart';
import { Picture } from './Picture';

export function CartDrawer() {
  const { setOpen, setQuantity } = useCart();
  const { lines, subtotal, shipping } = useCartLines();
  return (
    <div className="fixed inset-0 z-30">
      <motion.div
        className="absolute inset-0 bg-black/40"
        initial={{ opacity: 0 }}
        animate={{ opacity: 1 }}
        exit={{ opacity: 0 }}
        onClick={() => setOpen(false)}
      />
      <motion.aside
        aria-label="Basket"
        className="absolute right-0 top-0 flex h-full w-full max-w-md flex-col bg-paper p-6 shadow-2xl"
        initial={{ x: '100%' }}
        animate={{ x: 0 }}
        exit={{ x: '100%' }}
        transition={{ type: 'spring', stiffness: 320, damping: 34 }}
      >
        <div className="flex items-center justify-between">
          <h2 className="text-2xl font-semibold">Your basket</h2>
          <button onClick={() => setOpen(false)} aria-label="Close" className="rounded-full p-2 hover:bg-line">
            <X className="h-5 w-5" />
          </button>
        </div>
        {lines.length === 0 ? (
          <div className="grid flex-1 place-content-center text-center">
            <p className="font-display text-xl">Nothing here yet.</p>
            <p className="mt-2 text-sm text-soft">Most people begin with a cup.</p>
          </div>
        ) : (
          <>
            <ul className="mt-6 flex-1 space-y-4 overflow-y-auto">
              {lines.map(({ product, quantity }) => (
                <li key={product.slug} className="flex items-center gap-4">
                  <Picture product={product} className="h-16 w-16 rounded-xl" />
                  <div className="flex-1">
                    <p className="font-medium">{product.name}</p>
                    <p className="text-sm text-soft">{price(product.price * quantity)}</p>
                  </div>
                  <div className="flex items-center gap-2 rounded-full border border-line p-1">
                    <button aria-label="One fewer" className="p-1" onClick={() => setQuantity(product.slug, quantity - 1)}>
                      <Minus className="h-3.5 w-3.5" />
                    </button>
                    <span className="w-5 text-center text-sm">{quantity}</span>
                    <button
                      aria-label="One more"
                      className="p-1 disabled:opacity-30"
                      disabled={quantity >= product.stock}
                      onClick={() => setQuantity(product.slug, quantity + 1)}
                    >
                      <Plus className="h-3.5 w-3.5" />
                    </button>
                  </div>
                </li>
              ))}
            </ul>
            <dl className="mt-4 space-y-1 border-t border-line pt-4 text-sm">
              <div className="flex justify-between text-soft">
                <dt>Shipping</dt>
                <dd>{shipping ? price(shipping) : 'free'}</dd>
              </div>
              <div className="flex justify-between text-base font-semibold">
                <dt>Total</dt>
                <dd>{price(subtotal + shipping)}</dd>
              </div>
            </dl>
            <Link to="/checkout" onClick={() => setOpen(false)} className="btn-primary mt-5">
              Go to checkout
            </Link>
          </>
        )}
      </motion.aside>
    </div>
  );
}
