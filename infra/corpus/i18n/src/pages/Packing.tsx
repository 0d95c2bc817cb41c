import { useState } from 'react';
import { useTranslation } from 'react-i18next';

const items = ['plugs', 'water', 'book', 'slippers'] as const;

export function Packing() {
  const { t } = useTranslation(['packing', 'common']);
  const [packed, setPacked] = useState<readonly string[]>([]);
  return (
    <>
      <h1 className="my-6 text-4xl font-black tracking-tight">{t('common:packing')}</h1>
      <ul className="space-y-3 rounded-2xl bg-white p-6">
        {items.map((item) => (
          <li key={item}>
            <label className="flex items-center gap-3">
              <input
                type="checkbox"
                checked={packed.includes(item)}
                onChange={() => setPacked(packed.includes(item) ? packed.filter((other) => other !== item) : [...packed, item])}
              />
              {t(`items.${item}`)}
            </label>
          </li>
        ))}
      </ul>
      <p className="mt-4 text-indigo-700">{t('done', { done: packed.length, total: items.length })}</p>
    </>
  );
}
