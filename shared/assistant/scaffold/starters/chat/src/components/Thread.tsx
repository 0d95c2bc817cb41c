import { Menu, Phone } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { type Conversation, me } from '../types'
import { Bubble } from './Bubble'
import { Composer } from './Composer'
import { Face } from './Face'

interface ThreadProps {
  conversation: Conversation
  typing: boolean
  onSend: (id: string, text: string, partner: string) => void
}

export function Thread({ conversation, typing, onSend }: ThreadProps) {
  const { id, name, members, messages } = conversation
  const end = useRef<HTMLDivElement>(null)
  const partner = messages.findLast((message) => message.author !== me)?.author ?? name

  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' })
  }, [messages.length, typing])

  return (
    <>
      <header className="flex items-center gap-3 border-b border-base-300 px-4 py-3 sm:px-6">
        <label htmlFor="list" className="btn btn-circle btn-ghost btn-sm lg:hidden" aria-label="Open the list">
          <Menu className="size-5" />
        </label>
        <Face {...conversation} />
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-semibold">{name}</h2>
          <p className="truncate text-xs opacity-60">{typing ? `${partner} is writing` : members}</p>
        </div>
        <button className="btn btn-circle btn-ghost" aria-label="Call">
          <Phone className="size-5" />
        </button>
      </header>
      <div className="flex-1 overflow-y-auto px-4 py-6 sm:px-8" role="log" aria-live="polite">
        {messages.length === 0 && (
          <div className="grid h-full place-content-center gap-2 text-center">
            <p className="text-lg font-semibold">A quiet room.</p>
            <p className="max-w-xs text-sm opacity-60">Nobody has written here yet. The first message is always the shortest.</p>
          </div>
        )}
        <div className="mx-auto max-w-3xl">
          {messages.map((message, index) => (
            <Bubble key={message.id} message={message} first={messages[index - 1]?.author !== message.author} />
          ))}
          {typing && (
            <div className="chat chat-start">
              <div className="chat-bubble bg-base-200 text-base-content">
                <span className="loading loading-sm loading-dots" />
              </div>
            </div>
          )}
          <div ref={end} />
        </div>
      </div>
      <Composer onSend={(text) => onSend(id, text, partner)} />
    </>
  )
}
