import { derived, writable } from 'svelte/store'
import { questions } from './questions'

interface Given {
  question: number
  answer: number
}

function createGame() {
  const { subscribe, update, set } = writable<Given[]>([])
  return {
    subscribe,
    answer: (question: number, answer: number) =>
      update((all) => (all.some((g) => g.question === question) ? all : [...all, { question, answer }])),
    reset: () => set([]),
  }
}

export const game = createGame()
export const points = derived(game, ($game) => $game.filter((g) => questions[g.question].right === g.answer).length * 10)
export const finished = derived(game, ($game) => $game.length === questions.length)
