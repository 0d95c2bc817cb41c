import { line, wave } from './shapes.js'

const samples = [
  { id: 's1', title: 'Lighthouse', strokes: [line('#2b2d42', [200, 340], [240, 120]), line('#2b2d42', [300, 340], [270, 120]), line('#e85d04', [230, 120], [280, 120])] },
  { id: 's2', title: 'Sea', strokes: [wave('#1d70a2', 200), wave('#1d70a2', 240), wave('#3a9bc8', 280), wave('#3a9bc8', 320)] },
]

/** Reads the sheets as a server would send them: later, as a promise. */
export async function loadSheets() {
  await new Promise((done) => setTimeout(done, 150))
  const saved = localStorage.getItem('sketchbook')
  return saved ? JSON.parse(saved) : samples
}

export function saveSheets(sheets) {
  localStorage.setItem('sketchbook', JSON.stringify(sheets))
}
