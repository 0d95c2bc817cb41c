import { Card, tagStyles } from '../types';

export function CardFace({ card, lifted = false }: { card: Card; lifted?: boolean }) {
  return (
    <div data-card={card.id} className={`panel p-3.5 ${lifted ? 'rotate-2 shadow-2xl' : 'shadow-sm'}`}>
      <p className="text-sm font-medium leading-snug">{card.title}</p>
      {card.note && <p className="mt-1 text-xs leading-relaxed text-slate-500 dark:text-slate-400">{card.note}</p>}
      <div className="mt-3 flex items-center justify-between">
        <span className={`rounded-md px-2 py-0.5 text-xs font-medium ${tagStyles[card.tag]}`}>{card.tag}</span>
        <span className="grid h-6 w-6 place-items-center rounded-full bg-slate-800 text-[10px] font-semibold text-white dark:bg-slate-700">
          {card.owner}
        </span>
      </div>
    </div>
  );
}
