export interface Talk {
  slug: string
  title: string
  speaker: string
  track: 'Craft' | 'Systems' | 'People'
  start: string
  minutes: number
  room: string
  abstract: string
}

export const talks: Talk[] = [
  { slug: 'maps-that-forget', title: 'Maps that forget', speaker: 'Ines Okafor', track: 'Craft', start: '09:30', minutes: 40, room: 'Barn', abstract: 'A map that shows everything helps nobody. This talk removes layers, one at a time, until a hiker in the rain can read it.' },
  { slug: 'slow-queues', title: 'Slow queues are a feature', speaker: 'Tomasz Wren', track: 'Systems', start: '10:20', minutes: 40, room: 'Loft', abstract: 'How a ticket office kept its promises by refusing to be fast, and which numbers it watched instead.' },
  { slug: 'asking-twice', title: 'Asking twice', speaker: 'Marit Solheim', track: 'People', start: '11:10', minutes: 30, room: 'Barn', abstract: 'The first answer in an interview is polite. The second one is useful. A practical session with cards.' },
  { slug: 'offline-first-orchard', title: 'An offline-first orchard', speaker: 'Desta Abebe', track: 'Systems', start: '13:00', minutes: 45, room: 'Loft', abstract: 'Two hundred tablets, forty hectares and one radio mast. What we synchronise, when, and what we never do.' },
  { slug: 'type-for-tired-eyes', title: 'Type for tired eyes', speaker: 'Ines Okafor', track: 'Craft', start: '14:00', minutes: 30, room: 'Barn', abstract: 'Reading at five in the morning is different. Measurements from night shifts, and a set of sizes that survived.' },
  { slug: 'the-quiet-retro', title: 'The quiet retro', speaker: 'Jun Takeda', track: 'People', start: '15:00', minutes: 30, room: 'Loft', abstract: 'Forty minutes without a spoken word, and why the notes were better than ever.' },
]
