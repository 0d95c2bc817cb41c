import { nanoid } from 'nanoid'
import { useCallback, useReducer, useRef } from 'react'
import { conversations, replies } from '../data/conversations'
import { type Conversation, me, type Message } from '../types'

interface State {
  conversations: Conversation[]
  active: string
  typing: string | null
}

type Action =
  | { type: 'open'; id: string }
  | { type: 'message'; id: string; message: Message }
  | { type: 'typing'; id: string | null }

function reducer(state: State, action: Action): State {
  switch (action.type) {
    case 'open':
      return { ...state, active: action.id, conversations: change(state, action.id, (item) => ({ ...item, unread: 0 })) }
    case 'typing':
      return { ...state, typing: action.id }
    case 'message':
      return {
        ...state,
        conversations: change(state, action.id, (item) => ({
          ...item,
          messages: [...item.messages, action.message],
          unread: action.id === state.active ? 0 : item.unread + 1,
        })),
      }
  }
}

const change = (state: State, id: string, update: (item: Conversation) => Conversation) =>
  state.conversations.map((item) => (item.id === id ? update(item) : item))

const now = () => new Intl.DateTimeFormat('en', { timeStyle: 'short' }).format(new Date())

export function useChat() {
  const [state, dispatch] = useReducer(reducer, { conversations, active: 'sailing', typing: null })
  const turn = useRef(0)

  const send = useCallback((id: string, text: string, partner: string) => {
    dispatch({ type: 'message', id, message: { id: nanoid(), author: me, text, time: now() } })
    setTimeout(() => dispatch({ type: 'typing', id }), 500)
    setTimeout(() => {
      dispatch({ type: 'typing', id: null })
      const reply = replies[turn.current++ % replies.length]
      dispatch({ type: 'message', id, message: { id: nanoid(), author: partner, text: reply, time: now() } })
    }, 1900)
  }, [])

  return { ...state, open: (id: string) => dispatch({ type: 'open', id }), send }
}
