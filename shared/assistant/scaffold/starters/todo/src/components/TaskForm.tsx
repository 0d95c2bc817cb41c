import { FormEvent, useState } from 'react';
import { Plus } from 'lucide-react';
import { ListId, lists } from '../types';

export function TaskForm({ onAdd, list }: { onAdd: (title: string, list: ListId) => void; list: ListId }) {
  const [title, setTitle] = useState('');

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!title.trim()) return;
    onAdd(title.trim(), list);
    setTitle('');
  };

  return (
    <form
      onSubmit={submit}
      className="flex items-center gap-2 rounded-2xl border border-violet-100 bg-white p-2 shadow-soft focus-within:border-violet-400 dark:border-white/10 dark:bg-white/5"
    >
      <span className={`ml-3 h-2.5 w-2.5 shrink-0 rounded-full ${lists[list].dot}`} />
      <input
        value={title}
        onChange={(event) => setTitle(event.target.value)}
        placeholder={`Something for ${lists[list].name.toLowerCase()}`}
        aria-label="New task"
        className="min-w-0 flex-1 bg-transparent px-2 py-2 outline-none placeholder:text-slate-400"
      />
      <button
        type="submit"
        className="flex items-center gap-1.5 rounded-xl bg-violet-600 px-4 py-2.5 text-sm font-medium text-white transition-colors hover:bg-violet-700"
      >
        <Plus size={16} /> Add
      </button>
    </form>
  );
}
