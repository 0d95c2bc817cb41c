import { useState } from 'react';
import { Moon, Sparkles, Sun } from 'lucide-react';
import { ProgressRing } from './components/ProgressRing';
import { TaskForm } from './components/TaskForm';
import { TaskItem } from './components/TaskItem';
import { useTasks } from './hooks/useTasks';
import { useTheme } from './hooks/useTheme';
import { Filter, ListId, lists } from './types';

const today = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long' }).format(new Date());

function App() {
  const { tasks, add, change, remove, clearDone } = useTasks();
  const { dark, toggle } = useTheme();
  const [filter, setFilter] = useState<Filter>('all');

  const shown = tasks
    .filter((task) => filter === 'all' || task.list === filter)
    .sort((a, b) => Number(a.done) - Number(b.done) || Number(b.starred) - Number(a.starred));
  const done = shown.filter((task) => task.done).length;

  return (
    <div className="min-h-screen bg-[radial-gradient(60rem_30rem_at_80%_-10%,theme(colors.fuchsia.200/.6),transparent)] dark:bg-[radial-gradient(60rem_30rem_at_80%_-10%,theme(colors.violet.800/.5),transparent)]">
      <main className="mx-auto max-w-xl px-5 py-10 sm:py-16">
        <header className="mb-8 flex items-center justify-between">
          <div>
            <p className="text-sm text-violet-700/70 dark:text-violet-200/60">{today}</p>
            <h1 className="text-4xl font-bold tracking-tight">Today</h1>
          </div>
          <div className="flex items-center gap-3">
            <button
              onClick={toggle}
              aria-label={dark ? 'Light theme' : 'Dark theme'}
              className="rounded-full p-2.5 text-violet-700 hover:bg-white/70 dark:text-violet-200 dark:hover:bg-white/10"
            >
              {dark ? <Sun size={20} /> : <Moon size={20} />}
            </button>
            <ProgressRing done={done} total={shown.length} />
          </div>
        </header>

        <TaskForm onAdd={add} list={filter === 'all' ? 'home' : filter} />

        <nav className="my-5 flex gap-1.5" aria-label="Lists">
          {(['all', ...Object.keys(lists)] as Filter[]).map((id) => (
            <button
              key={id}
              onClick={() => setFilter(id)}
              aria-pressed={filter === id}
              className={`rounded-full px-4 py-1.5 text-sm font-medium transition-colors ${
                filter === id
                  ? 'bg-slate-900 text-white dark:bg-violet-100 dark:text-slate-900'
                  : 'text-slate-500 hover:bg-white dark:text-violet-200/70 dark:hover:bg-white/10'
              }`}
            >
              {id === 'all' ? 'All' : lists[id as ListId].name}
            </button>
          ))}
        </nav>

        {shown.length === 0 ? (
          <div className="rounded-3xl border-2 border-dashed border-violet-200 px-6 py-14 text-center dark:border-white/10">
            <Sparkles className="mx-auto mb-3 text-violet-500" />
            <p className="font-medium">Nothing left to do.</p>
            <p className="mt-1 text-sm text-slate-500 dark:text-violet-200/60">Write down the next thing, or take a walk.</p>
          </div>
        ) : (
          <ul className="divide-y divide-violet-50 overflow-hidden rounded-3xl bg-white shadow-soft dark:divide-white/5 dark:bg-white/5">
            {shown.map((task) => (
              <TaskItem key={task.id} task={task} onChange={(values) => change(task.id, values)} onRemove={() => remove(task.id)} />
            ))}
          </ul>
        )}

        {done > 0 && (
          <button onClick={clearDone} className="mt-5 text-sm text-slate-500 underline-offset-4 hover:underline dark:text-violet-200/60">
            Remove {done === 1 ? 'the finished task' : `${done} finished tasks`}
          </button>
        )}
      </main>
    </div>
  );
}

export default App;
