import { useState } from 'react';
import {
  closestCorners,
  DndContext,
  DragEndEvent,
  DragOverEvent,
  DragOverlay,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import { sortableKeyboardCoordinates } from '@dnd-kit/sortable';
import { Search } from 'lucide-react';
import { useBoard } from '../state/BoardContext';
import { columnOf } from '../state/reducer';
import { ColumnId, columnOrder } from '../types';
import { CardFace } from './CardFace';
import { Column } from './Column';

export function Board() {
  const { state, dispatch } = useBoard();
  const [active, setActive] = useState<string | null>(null);
  const [search, setSearch] = useState('');
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 6 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );

  const move = ({ active, over }: DragEndEvent | DragOverEvent, sameColumn: boolean) => {
    if (!over || over.id === active.id) return;
    const id = String(active.id);
    const overColumn = columnOf(state, String(over.id));
    const column = overColumn ?? (over.id as ColumnId);
    if ((columnOf(state, id) === column) !== sameColumn) return;
    dispatch({ type: 'move', id, column, before: overColumn ? String(over.id) : undefined });
  };

  const done = state.columns.done.length;
  const total = Object.keys(state.cards).length;

  return (
    <div className="flex min-h-screen flex-col">
      <header className="flex flex-wrap items-center gap-x-6 gap-y-3 border-b border-slate-200 bg-white px-5 py-4 sm:px-8 dark:border-slate-800 dark:bg-slate-900">
        <img src="/board.svg" alt="" className="h-9 w-9" />
        <div>
          <h1 className="text-lg font-semibold leading-tight">Spring release</h1>
          <p className="text-sm text-slate-500 dark:text-slate-400">
            {done} of {total} cards done
          </p>
        </div>
        <div className="hidden h-1.5 w-40 overflow-hidden rounded-full bg-slate-200 md:block dark:bg-slate-800">
          <div className="h-full bg-emerald-500 transition-all" style={{ width: `${total ? (done / total) * 100 : 0}%` }} />
        </div>
        <label className="relative w-full sm:ml-auto sm:w-64">
          <Search size={16} className="absolute left-3 top-2.5 text-slate-400" />
          <input
            type="search"
            placeholder="Search cards"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
            className="input pl-9"
          />
        </label>
      </header>
      <DndContext
        sensors={sensors}
        collisionDetection={closestCorners}
        onDragStart={({ active }) => setActive(String(active.id))}
        onDragOver={(event) => move(event, false)}
        onDragEnd={(event) => {
          move(event, true);
          setActive(null);
        }}
        onDragCancel={() => setActive(null)}
      >
        <main className="flex flex-1 snap-x snap-mandatory items-start gap-4 overflow-x-auto p-5 sm:p-8 lg:grid lg:grid-cols-4">
          {columnOrder.map((column) => (
            <Column key={column} id={column} search={search.toLowerCase()} />
          ))}
        </main>
        <DragOverlay>{active && <CardFace card={state.cards[active]} lifted />}</DragOverlay>
      </DndContext>
    </div>
  );
}
