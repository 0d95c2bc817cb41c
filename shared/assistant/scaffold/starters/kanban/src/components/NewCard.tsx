import { FormEvent, useState } from 'react';
import { nanoid } from 'nanoid';
import { Plus } from 'lucide-react';
import { useBoard } from '../state/BoardContext';
import { ColumnId, Tag, tagStyles } from '../types';

export function NewCard({ column }: { column: ColumnId }) {
  const { dispatch } = useBoard();
  const [open, setOpen] = useState(false);
  const [title, setTitle] = useState('');
  const [tag, setTag] = useState<Tag>('code');

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!title.trim()) return;
    dispatch({ type: 'add', column, card: { id: nanoid(8), title: title.trim(), tag, owner: 'ME' } });
    setTitle('');
    setOpen(false);
  };

  if (!open) {
    return (
      <button
        onClick={() => setOpen(true)}
        className="mt-2.5 flex w-full items-center gap-1.5 rounded-lg px-2 py-2 text-sm text-slate-500 hover:bg-white/70 hover:text-slate-900 dark:text-slate-400 dark:hover:bg-slate-800 dark:hover:text-slate-100"
      >
        <Plus size={16} /> Add a card
      </button>
    );
  }
  return (
    <form onSubmit={submit} className="panel mt-2.5 space-y-2.5 p-3">
      <input
        autoFocus
        value={title}
        onChange={(event) => setTitle(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
        placeholder="What has to be done?"
        className="input"
      />
      <div className="flex items-center gap-1.5">
        {(Object.keys(tagStyles) as Tag[]).map((name) => (
          <button
            key={name}
            type="button"
            onClick={() => setTag(name)}
            className={`rounded-md px-2 py-0.5 text-xs font-medium ${tagStyles[name]} ${tag === name ? 'ring-2 ring-slate-400' : ''}`}
          >
            {name}
          </button>
        ))}
        <button className="ml-auto rounded-lg bg-sky-600 px-3 py-1.5 text-sm font-medium text-white hover:bg-sky-700">Add</button>
      </div>
    </form>
  );
}
