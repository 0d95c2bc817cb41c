import type { Product, Shape } from '../data/products';

const outlines: Record<Shape, string> = {
  bowl: 'M40 95h120c0 44-24 68-60 68S40 139 40 95Z',
  cup: 'M62 78h66v58c0 18-12 30-33 30s-33-12-33-30Z',
  vase: 'M84 40h32l-3 26c24 14 34 34 30 62-3 22-17 38-43 38s-40-16-43-38c-4-28 6-48 30-62Z',
  plate: 'M30 112h140c-6 22-30 36-70 36s-64-14-70-36Z',
  cloth: 'M52 58 142 44l14 96-92 22Z',
};

export function Picture({ product, className = '' }: { product: Product; className?: string }) {
  const id = `glaze-${product.slug}`;
  return (
    <svg viewBox="0 0 200 200" className={className} role="img" aria-label={product.name}>
      <defs>
        <linearGradient id={id} x1="0" x2="1">
          <stop offset="0" stopColor={product.glaze} />
          <stop offset="0.55" stopColor={product.glaze} stopOpacity="0.85" />
          <stop offset="1" stopColor={product.glaze} />
        </linearGradient>
      </defs>
      <rect width="200" height="200" fill={product.accent} />
      <circle cx="150" cy="56" r="52" fill="#fff" opacity="0.28" />
      <ellipse cx="100" cy="168" rx="66" ry="8" fill="#3d2c20" opacity="0.18" />
      {product.shape === 'cup' && (
        <path d="M128 92c26-4 30 42-4 40" fill="none" stroke={product.glaze} strokeWidth="9" strokeLinecap="round" />
      )}
      <path d={outlines[product.shape]} fill={product.glaze} />
      <path d={outlines[product.shape]} fill={`url(#${id})`} />
      <path d={outlines[product.shape]} fill="none" stroke="#fff" strokeOpacity="0.25" strokeWidth="2" />
      {product.shape === 'cloth' && <path d="M60 76 144 62M62 146 154 124" stroke="#fff" strokeOpacity="0.6" strokeWidth="3" />}
    </svg>
  );
}
