import { useDroppable } from '@dnd-kit/core';
import { SortableContext, verticalListSortingStrategy } from '@dnd-kit/sortable';
import { useBoard } from '../state/BoardContext';
import { ColumnId, columnNames } from '../types';
import { NewCard } from './NewCard';
import { SortableCard } from './SortableCard';

export function Column({ id, search }: { id: ColumnId; search: string }) {
  const { state } = useBoard();
  const { setNodeRef, isOver } = useDroppable({ id });
  const { name, dot, empty } = columnNames[id];
  const ids = state.columns[id].filter((card) => state.cards[card].title.toLowerCase().includes(search));

  return (
    <section
      data-column={id}
      className="w-[82vw] max-w-xs shrink-0 snap-center rounded-2xl bg-slate-200/60 p-3 lg:w-auto lg:max-w-none dark:bg-slate-900/60"
    >
      <h2 className="mb-3 flex items-center gap-2 px-1 text-sm font-semibold">
        <span className={`h-2.5 w-2.5 rounded-full ${dot}`} />
        {name}
        <small className="ml-auto rounded-md bg-white px-2 py-0.5 text-xs font-medium text-slate-500 dark:bg-slate-800 dark:text-slate-400">
          {state.columns[id].length}
        </small>
      </h2>
      <SortableContext id={id} items={ids} strategy={verticalListSortingStrategy}>
        <ul ref={setNodeRef} className={`min-h-[5rem] space-y-2.5 rounded-xl transition ${isOver ? 'bg-sky-500/10' : ''}`}>
          {ids.map((card) => (
            <SortableCard key={card} card={state.cards[card]} />
          ))}
          {ids.length === 0 && (
            <li className="grid h-20 place-items-center rounded-xl border-2 border-dashed border-slate-300 text-sm text-slate-500 dark:border-slate-700">
              {search ? 'No card matches.' : empty}
            </li>
          )}
        </ul>
      </SortableContext>
      <NewCard column={id} />
    </section>
  );
}
