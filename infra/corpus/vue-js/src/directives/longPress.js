// v-long-press:600="handler" calls the handler after the pointer has been down for 600 ms.
export const longPress = {
  mounted(el, { value, arg = '500' }) {
    let timer
    el._start = () => (timer = setTimeout(value, Number(arg)))
    el._stop = () => clearTimeout(timer)
    el.addEventListener('pointerdown', el._start)
    el.addEventListener('pointerup', el._stop)
    el.addEventListener('pointerleave', el._stop)
  },
  unmounted(el) {
    el._stop()
  },
}
