import { motion } from 'framer-motion';
import { Plus } from 'lucide-react';
import { Link } from 'react-router-dom';
import { price, type Product } from '../data/products';
import { useCart } from '../store/cart';
import { Picture } from './Picture';

export function ProductCard({ product }: { product: Product }) {
  const add = useCart((state) => state.add);
  const soldOut = product.stock === 0;
  return (
    <motion.article layout initial={{ opacity: 0, y: 12 }} animate={{ opacity: 1, y: 0 }} exit={{ opacity: 0 }} className="group">
      <Link to={`/pieces/${product.slug}`} className="relative block overflow-hidden rounded-2xl">
        <Picture product={product} className="w-full transition duration-500 group-hover:scale-[1.03] dark:brightness-[.85]" />
        {soldOut && <span className="absolute left-3 top-3 rounded-full bg-paper px-3 py-1 text-xs">Sold out</span>}
        {!soldOut && product.stock < 4 && (
          <span className="absolute left-3 top-3 rounded-full bg-paper px-3 py-1 text-xs">Last {product.stock}</span>
        )}
      </Link>
      <div className="mt-3 flex items-start justify-between gap-2">
        <div className="min-w-0">
          <h3 className="text-base font-semibold leading-tight sm:text-lg">{product.name}</h3>
          <p className="mt-0.5 text-sm text-soft">{price(product.price)}</p>
        </div>
        <button
          aria-label={`Add ${product.name} to the basket`}
          disabled={soldOut}
          onClick={() => add(product.slug)}
          className="grid h-9 w-9 shrink-0 place-items-center rounded-full border border-line transition enabled:hover:border-clay enabled:hover:bg-clay enabled:hover:text-white disabled:opacity-30"
        >
          <Plus className="h-4 w-4" />
        </button>
      </div>
    </motion.article>
  );
}
