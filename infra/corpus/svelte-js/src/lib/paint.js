export function paint(context, strokes) {
  const { width, height } = context.canvas
  context.clearRect(0, 0, width, height)
  context.lineCap = context.lineJoin = 'round'
  for (const { colour, width, points } of strokes) {
    context.strokeStyle = colour
    context.lineWidth = width
    context.beginPath()
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)))
    context.stroke()
  }
}
