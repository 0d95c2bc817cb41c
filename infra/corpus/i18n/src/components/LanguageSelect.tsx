import { Languages } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { languages } from '../i18n';

export function LanguageSelect() {
  const { t, i18n } = useTranslation();
  return (
    <label className="ms-auto flex items-center gap-2">
      <Languages size={18} aria-label={t('language')} />
      <select
        value={i18n.resolvedLanguage}
        onChange={(event) => void i18n.changeLanguage(event.target.value)}
        className="rounded-md bg-indigo-800 px-2 py-1"
      >
        {Object.entries(languages).map(([code, name]) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
