import { me, type Message } from '../types'

export function Bubble({ message, first }: { message: Message; first: boolean }) {
  const own = message.author === me
  return (
    <div className={`chat ${own ? 'chat-end' : 'chat-start'}`}>
      {first && (
        <div className="chat-header mb-1">
          {own ? 'You' : message.author} <time className="text-xs opacity-50">{message.time}</time>
        </div>
      )}
      <div className={`chat-bubble max-w-[85%] sm:max-w-md ${own ? 'chat-bubble-primary' : 'bg-base-200 text-base-content'}`}>
        {message.text}
      </div>
    </div>
  )
}
