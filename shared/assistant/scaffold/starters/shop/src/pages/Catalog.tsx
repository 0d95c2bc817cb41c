import clsx from 'clsx';
import { AnimatePresence } from 'framer-motion';
import { useMemo, useState } from 'react';
import { Picture } from '../components/Picture';
import { ProductCard } from '../components/ProductCard';
import { categories, price, products } from '../data/products';

const orders = {
  featured: () => 0,
  'price-up': (a: number, b: number) => a - b,
  'price-down': (a: number, b: number) => b - a,
};

export function Catalog() {
  const [category, setCategory] = useState<string>('All pieces');
  const [order, setOrder] = useState<keyof typeof orders>('featured');
  const [limit, setLimit] = useState(90);
  const shown = useMemo(
    () =>
      products
        .filter((product) => (category === 'All pieces' || product.category === category) && product.price <= limit)
        .sort((a, b) => orders[order](a.price, b.price)),
    [category, order, limit],
  );

  return (
    <>
      <section className="grid items-center gap-8 py-10 md:grid-cols-2 md:py-16">
        <div>
          <p className="text-sm font-medium uppercase tracking-[0.2em] text-clay dark:text-clay-light">Autumn firing</p>
          <h1 className="mt-4 text-4xl font-semibold leading-[1.05] tracking-tight sm:text-6xl">Things for a slow table</h1>
          <p className="mt-5 max-w-md text-soft">
            Stoneware and linen from two workshops in the hills. We fire once a month, and what is gone is gone.
          </p>
          <a href="#pieces" className="btn-primary mt-7">
            See this month’s pieces
          </a>
        </div>
        <div className="grid grid-cols-2 gap-3 dark:brightness-[.85]">
          <Picture product={products[2]} className="rounded-3xl rounded-br-[6rem]" />
          <Picture product={products[0]} className="mt-10 rounded-3xl rounded-tl-[6rem]" />
        </div>
      </section>

      <section id="pieces" className="scroll-mt-20">
        <div className="mb-8 flex flex-wrap items-center gap-x-6 gap-y-4">
          <div className="-mx-5 flex max-w-[100vw] gap-2 overflow-x-auto px-5 py-1 sm:mx-0 sm:px-0">
            {['All pieces', ...categories].map((name) => (
              <button key={name} onClick={() => setCategory(name)} className={clsx('chip', name === category && 'chip-active')}>
                {name}
              </button>
            ))}
          </div>
          <label className="flex items-center gap-3 text-sm text-soft md:ml-auto">
            Up to {price(limit)}
            <input
              type="range"
              min={15}
              max={90}
              step={5}
              value={limit}
              onChange={(event) => setLimit(Number(event.target.value))}
              className="w-28 accent-clay"
            />
          </label>
          <select
            aria-label="Order"
            value={order}
            onChange={(event) => setOrder(event.target.value as keyof typeof orders)}
            className="rounded-full border border-line bg-raised px-3 py-1.5 text-sm"
          >
            <option value="featured">Our order</option>
            <option value="price-up">Price, low first</option>
            <option value="price-down">Price, high first</option>
          </select>
        </div>
        {shown.length === 0 ? (
          <div className="rounded-3xl border border-dashed border-line py-20 text-center">
            <p className="font-display text-xl">Nothing at this price.</p>
            <button className="mt-3 text-sm text-clay underline dark:text-clay-light" onClick={() => (setLimit(90), setCategory('All pieces'))}>
              Show all pieces
            </button>
          </div>
        ) : (
          <div className="grid grid-cols-2 gap-x-4 gap-y-9 sm:gap-x-6 lg:grid-cols-3">
            <AnimatePresence mode="popLayout">
              {shown.map((product) => (
                <ProductCard key={product.slug} product={product} />
              ))}
            </AnimatePresence>
          </div>
        )}
      </section>
    </>
  );
}
