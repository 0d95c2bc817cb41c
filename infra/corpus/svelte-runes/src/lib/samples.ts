import type { Span } from './tasks.svelte'

export const samples: { name: string; hue: number; spans: Span[] }[] = [
  { name: 'Write the report', hue: 212, spans: [{ day: 0, minutes: 50 }, { day: 2, minutes: 25 }] },
  { name: 'Answer the mail', hue: 340, spans: [{ day: 1, minutes: 20 }] },
  { name: 'Repair the bike', hue: 150, spans: [{ day: 3, minutes: 60 }] },
]
