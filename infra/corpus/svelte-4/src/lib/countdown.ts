import { readable } from 'svelte/store'

export const countdown = (seconds: number) =>
  readable(seconds, (set) => {
    const end = Date.now() + seconds * 1000
    const timer = setInterval(() => set(Math.max(0, Math.ceil((end - Date.now()) / 1000))), 250)
    return () => clearInterval(timer)
  })
