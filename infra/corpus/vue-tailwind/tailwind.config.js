import forms from '@tailwindcss/forms'
import colors from 'tailwindcss/colors'

/** @type {import('tailwindcss').Config} */
export default {
  content: ['./index.html', './src/**/*.{vue,js,ts,jsx,tsx}'],
  darkMode: 'class',
  theme: {
    extend: {
      colors: {
        brand: {
          50: '#eefaf7',
          100: '#d3f2ea',
          500: '#17a08c',
          600: '#0d7467',
          700: '#0b5d53',
        },
        sand: { 50: '#faf8f4', 100: '#f2eee5', 200: '#e6dfd0' },
        slate: colors.slate,
      },
      fontFamily: {
        sans: ['Inter', 'system-ui', 'sans-serif'],
      },
      keyframes: {
        arrive: {
          from: { opacity: '0', transform: 'translateY(6px)' },
          to: { opacity: '1', transform: 'none' },
        },
      },
      animation: { arrive: 'arrive 200ms ease-out both' },
    },
  },
  safelist: ['bg-rose-500', 'bg-amber-500', 'bg-sky-500'],
  plugins: [
    forms({ strategy: 'class' }),
    ({ addVariant }) => addVariant('unread', '&[data-unread="true"]'),
  ],
}
