import i18n from 'i18next';
import LanguageDetector from 'i18next-browser-languagedetector';
import { initReactI18next } from 'react-i18next';
import ar from './locales/ar.json';
import de from './locales/de.json';
import en from './locales/en.json';

export const languages = { en: 'English', de: 'Deutsch', ar: 'العربية' } as const;

i18n.on('languageChanged', (language) => {
  document.documentElement.lang = language;
  document.documentElement.dir = i18n.dir(language);
});

void i18n
  .use(LanguageDetector)
  .use(initReactI18next)
  .init({
    resources: { en, de, ar },
    fallbackLng: 'en',
    supportedLngs: Object.keys(languages),
    nonExplicitSupportedLngs: true,
    defaultNS: 'common',
    interpolation: { escapeValue: false },
    detection: { order: ['querystring', 'localStorage', 'navigator'], lookupQuerystring: 'lang' },
  });

export default i18n;
