import './style.css'
import { Game } from './game'
import { Input } from './input'
import { best, saveBest } from './storage'

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T

const canvas = element<HTMLCanvasElement>('stage')
const panel = element('panel')
const title = element('title')
const message = element('message')
const start = element<HTMLButtonElement>('start')
const score = element('score')
const bestScore = element('best')

const input = new Input(canvas)
const game = new Game(canvas, input, {
  onScore: (value) => (score.textContent = String(value)),
  onEnd: (value) => {
    const record = saveBest(value)
    bestScore.textContent = String(best())
    show(
      record ? 'A new best!' : 'The moths found you',
      `You carried ${value} ${value === 1 ? 'spark' : 'sparks'} through the night.`,
      'Fly again',
    )
  },
})

function show(heading: string, text: string, button: string) {
  title.textContent = heading
  message.textContent = text
  start.textContent = button
  panel.hidden = false
  start.focus()
}

function play() {
  panel.hidden = true
  if (game.state === 'paused') game.resume()
  else game.begin()
}

function pause() {
  if (game.state !== 'playing') return
  game.pause()
  show('Paused', 'The moths wait as well.', 'Go on')
}

bestScore.textContent = String(best())
start.addEventListener('click', play)
element('pause').addEventListener('click', pause)
document.addEventListener('visibilitychange', () => document.hidden && pause())
document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() === 'p') pause()
})
