import { ArrowRight } from 'lucide-react';
import { Trans, useTranslation } from 'react-i18next';
import { trains } from '../data/trains';

export function Trains() {
  const { t } = useTranslation();
  return (
    <div className="@container">
      <h1 className="my-6 text-4xl font-black tracking-tight">{t('title')}</h1>
      <p className="mb-6">
        <Trans i18nKey="hint" components={{ b: <strong className="text-amber-700" /> }} />
      </p>
      <div className="grid gap-4 @lg:grid-cols-2">
        {trains.map((train) => (
          <article key={train.id} className="rounded-2xl border-s-8 border-indigo-400 bg-white p-5 shadow-sm">
            <h2 className="flex items-center gap-2 text-xl font-bold">
              {train.from} <ArrowRight size={18} className="rtl:rotate-180" /> {train.to}
            </h2>
            <p className="mt-2 text-indigo-700">{t('leaves', { time: train.leaves })}</p>
            <p className="flex justify-between text-indigo-700">
              {t('nights', { count: train.nights })} <strong>{t('price', { value: train.price })}</strong>
            </p>
          </article>
        ))}
      </div>
    </div>
  );
}
