import { createSubscriber } from 'svelte/reactivity'

/** The current time, updated each second while a component reads it. */
class Clock {
  #subscribe = createSubscriber((update) => {
    const timer = setInterval(update, 1000)
    return () => clearInterval(timer)
  })

  get now() {
    this.#subscribe()
    return Date.now()
  }
}

export const clock = new Clock()
