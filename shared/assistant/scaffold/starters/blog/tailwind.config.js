import typography from '@tailwindcss/typography';

/** @type {import('tailwindcss').Config} */
export default {
  content: ['./index.html', './src/**/*.{js,ts,jsx,tsx}'],
  darkMode: 'media',
  theme: {
    extend: {
      fontFamily: {
        serif: ['Charter', '"Bitstream Charter"', '"Sitka Text"', 'Cambria', 'Georgia', 'serif'],
      },
      typography: ({ theme }) => ({
        DEFAULT: {
          css: {
            '--tw-prose-links': theme('colors.lime.800'),
            '--tw-prose-invert-links': theme('colors.lime.400'),
            '--tw-prose-bullets': theme('colors.lime.600'),
            fontFamily: theme('fontFamily.serif').join(', '),
            'blockquote p:first-of-type::before': { content: 'none' },
            'blockquote p:last-of-type::after': { content: 'none' },
            'ul.contains-task-list': { listStyle: 'none', paddingLeft: '0' },
            blockquote: { fontStyle: 'normal', borderLeftColor: theme('colors.lime.600') },
          },
        },
      }),
    },
  },
  plugins: [typography],
};
