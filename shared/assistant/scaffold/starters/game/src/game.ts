import { Lantern, Moth, Spark } from './entities'
import type { Input } from './input'
import { render } from './render'
import { between, clamp, distance } from './vector'

interface Events {
  onScore: (score: number) => void
  onEnd: (score: number) => void
}

export class Game {
  state: 'ready' | 'playing' | 'paused' | 'over' = 'ready'
  private readonly context: CanvasRenderingContext2D
  private readonly lantern = new Lantern()
  private sparks: Spark[] = []
  private moths: Moth[] = []
  private score = 0
  private time = 0
  private last = 0
  private nextMoth = 0
  private width = 0
  private height = 0

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly input: Input,
    private readonly events: Events,
  ) {
    this.context = canvas.getContext('2d')!
    new ResizeObserver(() => this.resize()).observe(canvas)
    this.resize()
    this.lantern.x = this.width / 2
    this.lantern.y = this.height * 0.82
    requestAnimationFrame((now) => this.frame(now))
  }

  begin() {
    this.score = 0
    this.sparks = []
    this.moths = []
    this.nextMoth = this.time + 2
    this.lantern.x = this.width / 2
    this.lantern.y = this.height / 2
    this.state = 'playing'
    this.events.onScore(0)
  }

  pause() {
    this.state = 'paused'
  }

  resume() {
    this.state = 'playing'
  }

  private resize() {
    const ratio = Math.min(2, devicePixelRatio)
    this.width = this.canvas.clientWidth
    this.height = this.canvas.clientHeight
    this.canvas.width = this.width * ratio
    this.canvas.height = this.height * ratio
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0)
  }

  private frame(now: number) {
    const seconds = Math.min(0.05, (now - this.last) / 1000)
    this.last = now
    this.time += seconds
    if (this.state === 'playing') this.update(seconds)
    const { lantern, sparks, moths, score, time } = this
    render(this.context, this.width, this.height, { lantern, sparks, moths, glow: score, time })
    requestAnimationFrame((next) => this.frame(next))
  }

  private update(seconds: number) {
    const { lantern } = this
    const direction = this.input.direction(lantern)
    lantern.x = clamp(lantern.x + direction.x * lantern.speed * seconds, lantern.radius, this.width - lantern.radius)
    lantern.y = clamp(lantern.y + direction.y * lantern.speed * seconds, lantern.radius, this.height - lantern.radius)

    while (this.sparks.length < 4) this.sparks.push(new Spark(between(40, this.width - 40), between(90, this.height - 60)))
    for (const spark of this.sparks) spark.age += seconds
    const left = this.sparks.filter((spark) => distance(spark, lantern) > spark.radius + lantern.radius)
    if (left.length < this.sparks.length) {
      this.score += this.sparks.length - left.length
      this.sparks = left
      this.events.onScore(this.score)
    }

    if (this.time > this.nextMoth) {
      this.nextMoth = this.time + Math.max(1.1, 3.5 - this.score * 0.06)
      this.moths.push(new Moth(Math.random() < 0.5 ? -20 : this.width + 20, between(0, this.height), between(70, 110) + this.score * 1.5))
      if (this.moths.length > 14) this.moths.shift()
    }
    for (const moth of this.moths) moth.update(seconds, lantern, this.time)
    if (this.moths.some((moth) => distance(moth, lantern) < moth.radius + lantern.radius - 6)) {
      this.state = 'over'
      this.events.onEnd(this.score)
    }
  }
}
