import { createI18n } from 'vue-i18n'
import en from './locales/en.json'
import de from './locales/de.json'
import ar from './locales/ar.json'

const money = { style: 'currency', currency: 'EUR' }
const day = { day: 'numeric', month: 'short' }

export default createI18n({
  legacy: false,
  globalInjection: true,
  locale: 'en',
  fallbackLocale: 'en',
  messages: { en, de, ar },
  numberFormats: { en: { money }, de: { money }, ar: { money } },
  datetimeFormats: { en: { day }, de: { day }, ar: { day } },
})
