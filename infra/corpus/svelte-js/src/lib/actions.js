/** Calls onstroke with the points of each stroke that is drawn on the node. */
export function pen(node, options) {
  let { onstroke, ondraw } = options
  let points = null

  const at = (event) => {
    const box = node.getBoundingClientRect()
    return [((event.clientX - box.left) / box.width) * node.width, ((event.clientY - box.top) / box.height) * node.height]
  }
  const down = (event) => {
    node.setPointerCapture(event.pointerId)
    points = [at(event)]
  }
  const move = (event) => {
    if (!points) return
    points.push(at(event))
    ondraw?.(points)
  }
  const up = () => {
    if (points?.length > 1) onstroke(points)
    points = null
  }
  node.addEventListener('pointerdown', down)
  node.addEventListener('pointermove', move)
  node.addEventListener('pointerup', up)
  return {
    update(next) {
      ;({ onstroke, ondraw } = next)
    },
    destroy() {
      node.removeEventListener('pointerdown', down)
      node.removeEventListener('pointermove', move)
      node.removeEventListener('pointerup', up)
    },
  }
}

/** Selects the text of an input when it appears. */
export function selectOnMount(node) {
  node.focus()
  node.select()
}
