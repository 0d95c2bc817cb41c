import { SendHorizontal } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'

export function Composer({ onSend }: { onSend: (text: string) => void }) {
  const [text, setText] = useState('')
  const send = () => {
    if (!text.trim()) return
    onSend(text.trim())
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <div className="px-4 pb-4 sm:px-8">
      <div className="mx-auto flex max-w-3xl items-end gap-2 rounded-box border border-base-300 bg-base-200 p-2 focus-within:border-primary">
        <textarea
          rows={1}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          placeholder="Write a message"
          aria-label="Message"
          className="field-sizing-content max-h-40 min-h-10 flex-1 resize-none bg-transparent px-3 py-2 outline-none"
        />
        <button className="btn btn-circle btn-primary" aria-label="Send" onClick={send}>
          <SendHorizontal className="size-5" />
        </button>
      </div>
    </div>
  )
}
