import forms from '@tailwindcss/forms';

/** @type {import('tailwindcss').Config} */
export default {
  content: ['./index.html', './src/**/*.{js,ts,jsx,tsx}'],
  theme: {
    extend: {
      borderRadius: { card: '1.75rem' },
    },
  },
  plugins: [forms({ strategy: 'class' })],
};
