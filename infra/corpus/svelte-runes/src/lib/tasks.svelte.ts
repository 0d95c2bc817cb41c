import { SvelteMap } from 'svelte/reactivity'
import { clock } from './clock.svelte'
import { samples } from './samples'

export interface Span {
  day: number
  minutes: number
}

export class Task {
  readonly id = crypto.randomUUID()
  name = $state('')
  hue = $state(210)
  spans = $state<Span[]>([])
  startedAt = $state.raw<number | null>(null)

  running = $derived(this.startedAt !== null)
  minutes = $derived(this.spans.reduce((sum, span) => sum + span.minutes, 0))

  constructor(name: string, hue: number, spans: Span[] = []) {
    this.name = name
    this.hue = hue
    this.spans = spans
  }

  get seconds(): number {
    return this.startedAt === null ? 0 : Math.max(0, Math.floor((clock.now - this.startedAt) / 1000))
  }

  // An arrow function, so that a template can pass it on without its object.
  toggle = () => {
    if (this.startedAt === null) {
      this.startedAt = Date.now()
      return
    }
    this.spans.push({ day: 4, minutes: Math.ceil((Date.now() - this.startedAt) / 60_000) })
    this.startedAt = null
  }
}

class Tracker {
  #tasks = new SvelteMap<string, Task>()
  goal = $state(360)

  constructor(tasks: Task[]) {
    for (const task of tasks) this.#tasks.set(task.id, task)
  }

  list = $derived.by(() => [...this.#tasks.values()])
  total = $derived(this.list.reduce((sum, task) => sum + task.minutes, 0))
  share = $derived(Math.min(1, this.total / this.goal))

  add(name: string) {
    const task = new Task(name, (this.#tasks.size * 67) % 360)
    this.#tasks.set(task.id, task)
    return task
  }

  remove = (id: string) => this.#tasks.delete(id)
}

export const tracker = new Tracker(samples.map(({ name, hue, spans }) => new Task(name, hue, spans)))
