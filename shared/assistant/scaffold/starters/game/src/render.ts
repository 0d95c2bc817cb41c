import type { Lantern, Moth, Spark } from './entities'

const dark = matchMedia('(prefers-color-scheme: dark)')
const stars = Array.from({ length: 90 }, (_, index) => ({
  x: ((index * 73) % 97) / 97,
  y: ((index * 41) % 89) / 89,
  size: 0.6 + (index % 4) * 0.45,
}))

export interface Scene {
  lantern: Lantern
  sparks: Spark[]
  moths: Moth[]
  glow: number
  time: number
}

export function render(context: CanvasRenderingContext2D, width: number, height: number, scene: Scene) {
  context.clearRect(0, 0, width, height)
  drawSky(context, width, height, scene.time)
  drawHills(context, width, height)
  for (const spark of scene.sparks) drawSpark(context, spark, scene.time)
  drawLantern(context, scene)
  for (const moth of scene.moths) drawMoth(context, moth, scene.time)
}

function drawSky(context: CanvasRenderingContext2D, width: number, height: number, time: number) {
  context.fillStyle = dark.matches ? '#fff' : '#fffdf3'
  stars.forEach((star, index) => {
    context.globalAlpha = (dark.matches ? 0.35 : 0.5) + 0.3 * Math.sin(time + index)
    context.fillRect(star.x * width, star.y * height * 0.8, star.size, star.size)
  })
  context.globalAlpha = 1
}

function drawHills(context: CanvasRenderingContext2D, width: number, height: number) {
  const colors = dark.matches ? ['#23264f', '#191b3d', '#101229'] : ['#a9c9b6', '#86b199', '#639578']
  colors.forEach((color, layer) => {
    context.fillStyle = color
    context.beginPath()
    context.moveTo(0, height)
    for (let x = 0; x <= width + 20; x += 20) {
      const wave = Math.sin(x / (170 - layer * 30) + layer * 2) * (26 - layer * 4)
      context.lineTo(x, height - 150 + layer * 46 + wave)
    }
    context.lineTo(width, height)
    context.fill()
  })
}

function glow(context: CanvasRenderingContext2D, x: number, y: number, radius: number, color: string, alpha: number) {
  const gradient = context.createRadialGradient(x, y, 0, x, y, radius)
  gradient.addColorStop(0, `rgb(${color} / ${alpha})`)
  gradient.addColorStop(1, `rgb(${color} / 0)`)
  context.fillStyle = gradient
  context.fillRect(x - radius, y - radius, radius * 2, radius * 2)
}

function drawSpark(context: CanvasRenderingContext2D, spark: Spark, time: number) {
  const size = spark.radius * Math.min(1, spark.age * 3) * (1 + 0.15 * Math.sin(time * 6 + spark.x))
  glow(context, spark.x, spark.y, size * 4, '255 190 60', 0.6)
  context.fillStyle = '#fff3c4'
  context.beginPath()
  context.arc(spark.x, spark.y, size, 0, Math.PI * 2)
  context.fill()
}

function drawLantern(context: CanvasRenderingContext2D, { lantern, glow: light }: Scene) {
  const { x, y, radius } = lantern
  glow(context, x, y, 60 + light * 8, '255 180 50', 0.55)
  context.fillStyle = '#ffc44d'
  context.beginPath()
  context.roundRect(x - radius * 0.8, y - radius, radius * 1.6, radius * 2, 6)
  context.fill()
  context.fillStyle = '#e58b2b'
  context.fillRect(x - radius * 0.55, y - radius - 4, radius * 1.1, 5)
}

function drawMoth(context: CanvasRenderingContext2D, moth: Moth, time: number) {
  const wing = moth.wing(time)
  context.fillStyle = dark.matches ? '#8f8bb8' : '#5d5470'
  for (const side of [-1, 1]) {
    context.beginPath()
    context.ellipse(moth.x + side * moth.radius * 0.7 * wing, moth.y - 2, moth.radius * wing, moth.radius * 0.7, side * 0.6, 0, Math.PI * 2)
    context.fill()
  }
  context.fillStyle = dark.matches ? '#cfcbe8' : '#2f2840'
  context.fillRect(moth.x - 1.5, moth.y - 8, 3, 16)
}
