export interface Message {
  id: string
  author: string
  text: string
  time: string
}

export interface Conversation {
  id: string
  name: string
  members: string
  color: 'primary' | 'secondary' | 'accent' | 'neutral'
  online: boolean
  unread: number
  messages: Message[]
}

export const me = 'me'
