import { useEffect, useReducer } from 'react'
import { fetchStations, type Station } from './api'

type State =
  | { kind: 'loading' }
  | { kind: 'failed'; message: string }
  | { kind: 'loaded'; stations: Station[]; live: boolean }

export function useStations() {
  const [state, dispatch] = useReducer((_: State, next: State) => next, { kind: 'loading' })

  useEffect(() => {
    const controller = new AbortController()
    fetchStations(controller.signal).then(
      (result) => dispatch({ kind: 'loaded', ...result }),
      (error: Error) => {
        if (error.name !== 'AbortError') dispatch({ kind: 'failed', message: error.message })
      },
    )
    return () => controller.abort()
  }, [])
  return state
}
