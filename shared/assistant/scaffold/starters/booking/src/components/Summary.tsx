import { format } from 'date-fns';
import { CalendarDays, Clock, MapPin } from 'lucide-react';
import { useFormContext } from 'react-hook-form';
import type { Booking } from '../lib/schema';
import { services } from '../lib/services';

export function Summary() {
  const { watch } = useFormContext<Booking>();
  const [id, date, time] = watch(['service', 'date', 'time']);
  const service = services.find((item) => item.id === id);
  return (
    <aside className="card h-fit lg:sticky lg:top-6">
      <h2 className="font-semibold">Your visit</h2>
      <p className="mt-3 text-lg">{service?.name ?? 'Nothing chosen yet'}</p>
      <ul className="mt-4 space-y-2.5 text-sm text-stone-600 dark:text-stone-400">
        <li className="flex items-center gap-2.5">
          <CalendarDays size={16} /> {date ? format(date, 'EEEE, d MMMM') : 'Any day but Sunday'}
        </li>
        <li className="flex items-center gap-2.5">
          <Clock size={16} /> {time || 'Between 9:00 and 17:30'}
        </li>
        <li className="flex items-center gap-2.5">
          <MapPin size={16} /> 12 rue des Lilas
        </li>
      </ul>
      {service && (
        <p className="mt-5 flex justify-between border-t border-stone-200 pt-4 font-medium dark:border-stone-800">
          To pay there <span>{service.price} €</span>
        </p>
      )}
    </aside>
  );
}
