import { useSortable } from '@dnd-kit/sortable';
import { CSS } from '@dnd-kit/utilities';
import { X } from 'lucide-react';
import { useBoard } from '../state/BoardContext';
import { Card } from '../types';
import { CardFace } from './CardFace';

export function SortableCard({ card }: { card: Card }) {
  const { dispatch } = useBoard();
  const { setNodeRef, attributes, listeners, transform, transition, isDragging } = useSortable({ id: card.id });
  return (
    <li
      ref={setNodeRef}
      style={{ transform: CSS.Transform.toString(transform), transition }}
      className={`group relative touch-manipulation ${isDragging ? 'opacity-30' : ''}`}
    >
      <div {...attributes} {...listeners} className="cursor-grab rounded-xl outline-none focus-visible:ring-2 focus-visible:ring-sky-500">
        <CardFace card={card} />
      </div>
      <button
        aria-label={`Delete ${card.title}`}
        onClick={() => dispatch({ type: 'remove', id: card.id })}
        className="absolute right-2 top-2 rounded p-1 text-slate-400 opacity-0 hover:text-rose-500 focus:opacity-100 group-hover:opacity-100"
      >
        <X size={14} />
      </button>
    </li>
  );
}
