export interface Project {
  slug: string
  title: string
  year: number
  kind: string
  summary: string
  facts: Record<string, string>
  text: string[]
  palette: [string, string, string]
  pattern: 'arches' | 'grid' | 'waves' | 'dots'
}

export const projects: Project[] = [
  {
    slug: 'harbour-library',
    title: 'Harbour Library',
    year: 2026,
    kind: 'Wayfinding',
    summary: 'Signs for a library in an old warehouse, where no two floors have the same plan.',
    facts: { Client: 'City of Gothenburg', Scope: 'Signs, maps, 64 pictograms', Time: '14 months' },
    text: [
      'The warehouse was built in four steps, and each step left stairs that lead nowhere. We painted the useful ones.',
      'Every pictogram is drawn on the grid of the window frames. Children find the comics before they can read.',
    ],
    palette: ['#e8472b', '#f3c6a5', '#25323b'],
    pattern: 'arches',
  },
  {
    slug: 'nordlys',
    title: 'Nordlys Radio',
    year: 2025,
    kind: 'Identity',
    summary: 'A station that sends only at night needed a face that changes with the hour.',
    facts: { Client: 'Nordlys', Scope: 'Identity, type, motion', Time: '6 months' },
    text: ['The mark is a wave. Its height is the length of the night, so it is tall in December and nearly flat in June.'],
    palette: ['#1f3d5c', '#7fd1c7', '#0f1626'],
    pattern: 'waves',
  },
  {
    slug: 'fifty-breads',
    title: 'Fifty Breads',
    year: 2024,
    kind: 'Book',
    summary: 'A cookbook with one bread on each spread, and room for flour and notes.',
    facts: { Client: 'Rågkorn Press', Scope: 'Design, illustration', Time: '9 months' },
    text: ['The paper is uncoated, so that a pencil works. The pages have a coloured edge for each kind of flour.'],
    palette: ['#e2b04a', '#fbf1d9', '#7a4a1e'],
    pattern: 'dots',
  },
  {
    slug: 'metro-numbers',
    title: 'Metro Numbers',
    year: 2023,
    kind: 'Typeface',
    summary: 'Ten digits that can be read from a moving train.',
    facts: { Client: 'Västtrafik study', Scope: 'Type design, tests', Time: '4 months' },
    text: ['We tested 3, 6, 8 and 9 with two hundred people at 40 km/h. The open forms won, and now they are everywhere.'],
    palette: ['#3c5a3e', '#d8e0b8', '#1c261d'],
    pattern: 'grid',
  },
]
