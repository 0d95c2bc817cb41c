import { FormEvent, useState } from 'react';
import { Link } from 'react-router-dom';
import { price } from '../data/products';
import { useCart, useCartLines } from '../store/cart';

export function Checkout() {
  const clear = useCart((state) => state.clear);
  const { lines, subtotal, shipping } = useCartLines();
  const [thanks, setThanks] = useState('');

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setThanks(String(new FormData(event.currentTarget).get('name')));
    clear();
  };

  if (thanks || lines.length === 0) {
    return (
      <div className="py-24 text-center">
        <h1 className="text-4xl font-semibold">{thanks ? `Thank you, ${thanks}` : 'Your basket is empty'}</h1>
        <p className="mt-3 text-soft">
          {thanks ? 'We wrap your pieces in paper and send them on Monday.' : 'Choose something first, then come back.'}
        </p>
        <Link to="/" className="btn-primary mt-8">
          To the pieces
        </Link>
      </div>
    );
  }
  return (
    <div className="mx-auto grid max-w-4xl gap-10 py-10 md:grid-cols-[1fr_18rem]">
      <form onSubmit={submit} className="space-y-4">
        <h1 className="mb-6 text-3xl font-semibold">Where shall we send it?</h1>
        <input className="field" name="name" required minLength={2} placeholder="Name" autoComplete="name" />
        <input className="field" name="email" required type="email" placeholder="E-mail" autoComplete="email" />
        <textarea className="field" name="address" required rows={3} placeholder="Address" autoComplete="street-address" />
        <button className="btn-primary">Order for {price(subtotal + shipping)}</button>
      </form>
      <ul className="h-fit space-y-3 rounded-3xl bg-raised p-6 text-sm">
        {lines.map(({ product, quantity }) => (
          <li key={product.slug} className="flex justify-between gap-4">
            <span>
              {quantity} × {product.name}
            </span>
            <span>{price(product.price * quantity)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
