import { Check, Star, Trash2 } from 'lucide-react';
import { lists, Task } from '../types';

interface TaskItemProps {
  task: Task;
  onChange: (values: Partial<Task>) => void;
  onRemove: () => void;
}

export function TaskItem({ task, onChange, onRemove }: TaskItemProps) {
  return (
    <li className="group flex items-center gap-3 px-4 py-3.5">
      <button
        role="checkbox"
        aria-checked={task.done}
        aria-label={task.title}
        onClick={() => onChange({ done: !task.done })}
        className={`grid h-6 w-6 shrink-0 place-items-center rounded-full border-2 transition-colors ${
          task.done ? 'border-violet-500 bg-violet-500 text-white' : 'border-violet-200 hover:border-violet-500 dark:border-white/25'
        }`}
      >
        {task.done && <Check size={14} strokeWidth={3} className="animate-pop" />}
      </button>
      <span className={`min-w-0 flex-1 break-words ${task.done ? 'text-slate-400 line-through dark:text-violet-200/40' : ''}`}>
        {task.title}
      </span>
      <span className={`h-2 w-2 rounded-full ${lists[task.list].dot}`} title={lists[task.list].name} />
      <button aria-label="Star" aria-pressed={task.starred} onClick={() => onChange({ starred: !task.starred })} className="p-1">
        <Star size={18} className={task.starred ? 'fill-amber-400 text-amber-400' : 'text-slate-300 hover:text-amber-400 dark:text-white/20'} />
      </button>
      <button
        aria-label="Delete"
        onClick={onRemove}
        className="p-1 text-slate-300 hover:text-rose-500 focus:opacity-100 sm:opacity-0 sm:group-hover:opacity-100 dark:text-white/30"
      >
        <Trash2 size={18} />
      </button>
    </li>
  );
}
