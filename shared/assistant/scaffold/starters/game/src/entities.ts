import { between, type Vector } from './vector'

export class Lantern implements Vector {
  x = 0
  y = 0
  radius = 14
  speed = 270
}

export class Spark implements Vector {
  readonly radius = 6
  age = 0

  constructor(
    public x: number,
    public y: number,
  ) {}
}

export class Moth implements Vector {
  readonly radius = 12
  private readonly phase = between(0, 7)

  constructor(
    public x: number,
    public y: number,
    private readonly speed: number,
  ) {}

  /** Flies towards the light, with the flutter of a moth. */
  update(seconds: number, light: Vector, time: number) {
    const angle = Math.atan2(light.y - this.y, light.x - this.x) + Math.sin(time * 3 + this.phase) * 0.9
    this.x += Math.cos(angle) * this.speed * seconds
    this.y += Math.sin(angle) * this.speed * seconds
  }

  wing(time: number) {
    return 0.45 + 0.55 * Math.abs(Math.sin(time * 14 + this.phase))
  }
}
