import type { Conversation } from '../types'

const colors: Record<Conversation['color'], string> = {
  primary: 'bg-primary text-primary-content',
  secondary: 'bg-secondary text-secondary-content',
  accent: 'bg-accent text-accent-content',
  neutral: 'bg-neutral text-neutral-content',
}

export function Face({ name, color, online = false }: { name: string; color: Conversation['color']; online?: boolean }) {
  return (
    <div className={`avatar avatar-placeholder ${online ? 'avatar-online' : ''}`}>
      <div className={`w-10 rounded-full ${colors[color]}`}>
        <span className="text-sm font-semibold">{name.slice(0, 1)}</span>
      </div>
    </div>
  )
}
