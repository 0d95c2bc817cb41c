import { compareAsc, format, formatDistanceToNow, isPast } from 'date-fns';
import { CalendarHeart } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { services } from '../lib/services';
import { cancelVisit, loadVisits } from '../lib/visits';

export function VisitsPage() {
  const [visits, setVisits] = useState(loadVisits);
  const sorted = [...visits].sort((a, b) => compareAsc(a.date, b.date) || a.time.localeCompare(b.time));
  return (
    <div className="mx-auto max-w-2xl">
      <h1 className="mb-6 mt-4 text-4xl font-semibold tracking-tight">My visits</h1>
      {sorted.length === 0 ? (
        <div className="card py-14 text-center">
          <CalendarHeart size={40} className="mx-auto text-rose-400" />
          <p className="mt-4 font-medium">Nothing is planned</p>
          <p className="mt-1 text-sm text-stone-500 dark:text-stone-400">Wednesday mornings are the quietest.</p>
          <Link to="/" className="btn mt-6">
            Book a visit
          </Link>
        </div>
      ) : (
        <ul className="space-y-3">
          {sorted.map((visit) => (
            <li key={visit.id} className="card flex flex-wrap items-center gap-4 !py-5">
              <div className="flex-1">
                <p className="font-medium">{services.find(({ id }) => id === visit.service)?.name}</p>
                <p className="text-sm text-stone-500 dark:text-stone-400">
                  {format(visit.date, 'EEEE, d MMMM')} at {visit.time},{' '}
                  {isPast(visit.date) ? 'today' : formatDistanceToNow(visit.date, { addSuffix: true })}
                </p>
              </div>
              <button className="btn-plain !px-4 !py-2 text-sm" onClick={() => setVisits(cancelVisit(visit.id))}>
                Cancel
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
