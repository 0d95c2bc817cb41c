import { ArrowLeft } from 'lucide-react';
import { Link, useParams } from 'react-router-dom';
import { Picture } from '../components/Picture';
import { price, products } from '../data/products';
import { useCart } from '../store/cart';

export function ProductPage() {
  const { slug } = useParams();
  const add = useCart((state) => state.add);
  const product = products.find((item) => item.slug === slug);
  if (!product) {
    return (
      <div className="py-24 text-center">
        <h1 className="text-3xl font-semibold">This piece is gone</h1>
        <Link to="/" className="btn-primary mt-6">
          See what is left
        </Link>
      </div>
    );
  }
  return (
    <div className="py-8">
      <Link to="/" className="inline-flex items-center gap-2 text-sm text-soft hover:text-ink">
        <ArrowLeft className="h-4 w-4" /> All pieces
      </Link>
      <div className="mt-6 grid gap-8 md:grid-cols-2 md:gap-14">
        <Picture product={product} className="w-full rounded-3xl dark:brightness-[.85]" />
        <div className="self-center">
          <p className="text-sm text-olive dark:text-clay-light">{product.category}</p>
          <h1 className="mt-1 text-4xl font-semibold">{product.name}</h1>
          <p className="mt-2 text-xl">{price(product.price)}</p>
          <p className="mt-6 leading-relaxed text-soft">{product.description}</p>
          <button className="btn-primary mt-8 w-full sm:w-auto" disabled={product.stock === 0} onClick={() => add(product.slug)}>
            {product.stock === 0 ? 'Sold out until the next firing' : 'Add to basket'}
          </button>
          <p className="mt-4 text-sm text-soft">Free shipping from $100. Returns within 30 days.</p>
        </div>
      </div>
    </div>
  );
}
