import './style.css'
import bikesCsv from './data/bikes.csv?raw'
import { wheels } from './data/wheels.json'
import limits from './data/limits.json'
import cardCss from './card.css?inline'
import GearWorker from './workers/gears?worker'
import { loadGcd } from './wasm/gcd'
import { parseCsv } from './lib/csv'
import { notes } from './lib/notes'
import type { Bike, GearReport } from './lib/types'

const diagram = new URL('./assets/drivetrain.svg', import.meta.url).href
const bikes = parseCsv<Bike>(bikesCsv, (row) => ({
  name: row.name,
  front: Number(row.front),
  rear: row.rear.split('-').map(Number),
  wheel: row.wheel,
}))

const app = document.querySelector<HTMLDivElement>('#app')!
app.innerHTML = `
  <header>
    <h1>${import.meta.env.VITE_TITLE} ${import.meta.env.VITE_SEASON}</h1>
    <p>${import.meta.env.VITE_HINT ?? ''} <span id="worker">checking…</span></p>
  </header>
  <main>
    <table>
      <thead><tr><th>Bike</th><th>Front</th><th>Rear</th><th>Wheel</th></tr></thead>
      <tbody>${bikes.map((b, i) => `<tr tabindex="0" data-index="${i}"><td>${b.name}</td><td>${b.front}</td><td>${b.rear.at(0)}–${b.rear.at(-1)}</td><td>${b.wheel}</td></tr>`).join('')}</tbody>
    </table>
    <section>
      <img src="${diagram}" alt="A chain runs from the front to the rear wheel" width="320" height="130" />
      <p>Easiest gear <output id="ratio">…</output></p>
      <p><span id="steps">…</span>, <span id="metres"></span></p>
    </section>
  </main>
  <section class="notes"></section>`

// The stylesheet is text, so that it can live inside a shadow root.
class NoteCard extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(cardCss)
    root.adoptedStyleSheets = [sheet]
    root.innerHTML = '<article><slot></slot></article>'
  }
}
customElements.define('note-card', NoteCard)
for (const { title, text } of notes) {
  const card = document.createElement('note-card')
  card.className = 'note'
  card.innerHTML = `<h3>${title}</h3><p>${text}</p>`
  document.querySelector('.notes')!.append(card)
}

const worker = new GearWorker()
const checker = new Worker(new URL('./workers/check.ts', import.meta.url), { type: 'module' })
const gcd = await loadGcd()

function show(bike: Bike) {
  const largest = Math.max(...bike.rear)
  const shared = gcd(bike.front * 2, largest * 2)
  document.querySelector('#ratio')!.textContent = `${(largest * 2) / shared} : ${(bike.front * 2) / shared}`
  worker.postMessage({ bike, circumference: wheels[bike.wheel as keyof typeof wheels] })
}

worker.onmessage = ({ data }: MessageEvent<GearReport>) => {
  document.querySelector('#steps')!.textContent = `${data.gears.length} gears`
  document.querySelector('#metres')!.textContent = `${data.gears.at(0)!.toFixed(2)} to ${data.gears.at(-1)!.toFixed(2)} m per turn`
}
checker.onmessage = ({ data }: MessageEvent<number>) => {
  document.querySelector('#worker')!.textContent = `${data} bikes checked`
}
checker.postMessage({ bikes, limits })

document.querySelector('tbody')!.addEventListener('click', (event) => {
  const row = (event.target as Element).closest<HTMLElement>('tr')
  if (row) show(bikes[Number(row.dataset.index)])
})
show(bikes[0])

if (import.meta.env.DEV) console.info('development', import.meta.env.MODE)
