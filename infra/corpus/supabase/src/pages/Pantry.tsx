import { FormEvent } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { LogOut, Trash2 } from 'lucide-react';
import { useAuth } from '../auth/AuthContext';
import { addItem, listItems, removeItem } from '../lib/items';

export function Pantry() {
  const { email, signOut } = useAuth();
  const client = useQueryClient();
  const { data: items = [], isPending, error } = useQuery({ queryKey: ['items'], queryFn: listItems });
  const refresh = () => client.invalidateQueries({ queryKey: ['items'] });
  const add = useMutation({ mutationFn: addItem, onSuccess: refresh });
  const remove = useMutation({ mutationFn: removeItem, onSuccess: refresh });

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    add.mutate({ name: String(values.get('name')), amount: Number(values.get('amount')), shelf: String(values.get('shelf')) });
    event.currentTarget.reset();
  };

  return (
    <main className="mx-auto max-w-2xl space-y-6 p-6">
      <header className="flex items-center justify-between">
        <h1 className="text-3xl font-bold">Shared pantry</h1>
        <button onClick={() => void signOut()} className="flex items-center gap-2 text-sm text-emerald-800">
          {email} <LogOut size={16} />
        </button>
      </header>
      <form onSubmit={submit} className="flex flex-wrap gap-2">
        <input className="input flex-1" name="name" placeholder="What do you have?" required />
        <input className="input !w-20" name="amount" type="number" min={1} defaultValue={1} />
        <select className="input !w-28" name="shelf">
          <option>Dry</option>
          <option>Cans</option>
          <option>Glass</option>
        </select>
        <button className="primary">Add</button>
      </form>
      {error && <p className="text-red-700">{error.message}</p>}
      {!isPending && items.length === 0 && <p className="py-12 text-center text-emerald-700">The shelves are empty.</p>}
      <ul className="divide-y divide-emerald-100 rounded-2xl bg-white">
        {items.map((item) => (
          <li key={item.id} className="flex items-center gap-4 px-5 py-4">
            <span className="w-10 text-lg font-bold tabular-nums">{item.amount}×</span>
            <span className="flex-1">{item.name}</span>
            <span className="rounded-full bg-emerald-50 px-3 py-0.5 text-sm">{item.shelf}</span>
            <button aria-label={`Remove ${item.name}`} onClick={() => remove.mutate(item.id)} className="text-emerald-300 hover:text-red-600">
              <Trash2 size={18} />
            </button>
          </li>
        ))}
      </ul>
    </main>
  );
}
