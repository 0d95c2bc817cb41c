const people = [
  { name: 'Ana', color: 'bg-glow', shifts: [1, 1, 0, 0, 0, 0, 0] },
  { name: 'Boris', color: 'bg-sky-300', shifts: [0, 0, 1, 1, 0, 0, 0] },
  { name: 'Chidi', color: 'bg-amber-300', shifts: [0, 0, 0, 0, 1, 0, 0] },
  { name: 'Dee', color: 'bg-rose-300', shifts: [0, 0, 0, 0, 0, 1, 1] },
]
const days = ['M', 'T', 'W', 'T', 'F', 'S', 'S']

export function ShiftPreview() {
  return (
    <div className="animate-rise rounded-3xl bg-white/5 p-6 shadow-2xl ring-1 ring-white/10 backdrop-blur-sm [animation-delay:150ms]">
      <div className="mb-5 flex items-center justify-between text-sm">
        <span className="font-semibold">This week</span>
        <span className="rounded-full bg-glow/15 px-3 py-1 text-xs text-glow">2 calls, 9 fewer than in May</span>
      </div>
      <div className="grid grid-cols-[3.5rem_repeat(7,1fr)] gap-1.5 text-xs text-night-300">
        <span />
        {days.map((day, index) => (
          <span key={index} className="text-center">
            {day}
          </span>
        ))}
        {people.map((person) => (
          <div key={person.name} className="contents">
            <span className="self-center text-sm text-white">{person.name}</span>
            {person.shifts.map((on, index) => (
              <span key={index} className={`h-10 rounded-lg ${on ? person.color : 'bg-white/5'}`} />
            ))}
          </div>
        ))}
      </div>
      <p className="mt-5 flex items-center gap-3 rounded-2xl bg-night-950/60 p-4 text-sm text-night-100">
        <span className="size-2.5 shrink-0 animate-pulse rounded-full bg-glow" />
        Boris is on call until Thursday, 9:00. Nobody else will be woken.
      </p>
    </div>
  )
}
