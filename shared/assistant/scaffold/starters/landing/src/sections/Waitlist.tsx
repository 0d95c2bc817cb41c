import { type FormEvent, useState } from 'react'

export function Waitlist() {
  const [email, setEmail] = useState('')
  const [sent, setSent] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setSent(true)
  }
  return (
    <section id="waitlist" className="wrap pb-24">
      <div className="rounded-[2rem] bg-glow px-6 py-14 text-center text-night-950 sm:px-12">
        <h2 className="text-3xl font-bold tracking-tight sm:text-4xl">Sleep through the next one</h2>
        {sent ? (
          <p className="mx-auto mt-6 max-w-md" role="status">
            Thank you. We write to <strong>{email}</strong> when your place is ready.
          </p>
        ) : (
          <form onSubmit={submit} className="mx-auto mt-8 flex max-w-md flex-col gap-3 sm:flex-row">
            <input
              type="email"
              required
              value={email}
              onChange={(event) => setEmail(event.target.value)}
              placeholder="you@company.example"
              aria-label="E-mail"
              className="min-w-0 flex-1 rounded-full bg-white px-5 py-3 text-night-950 outline-night-950 placeholder:text-night-500 focus:outline-2"
            />
            <button className="rounded-full bg-night-950 px-6 py-3 font-semibold text-white transition hover:bg-night-700">Join</button>
          </form>
        )}
      </div>
    </section>
  )
}
