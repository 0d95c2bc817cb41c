import { ArrowRight } from 'lucide-react'
import { ShiftPreview } from '../components/ShiftPreview'

export function Hero() {
  return (
    <section className="relative overflow-hidden bg-linear-to-b from-night-950 via-night-900 to-night-700 text-white dark:to-night-950">
      <div className="absolute -top-40 right-0 size-[36rem] rounded-full bg-glow/15 blur-3xl" aria-hidden="true" />
      <div className="wrap relative grid items-center gap-14 pt-36 pb-24 lg:grid-cols-[1.1fr_1fr] lg:pt-44 lg:pb-32">
        <div className="animate-rise">
          <p className="inline-block rounded-full border border-white/15 px-3 py-1 text-xs font-medium text-glow">
            New: calendars for 42 countries
          </p>
          <h1 className="mt-6 text-5xl leading-[1.04] font-bold tracking-tight text-balance sm:text-6xl">On call, without the dread</h1>
          <p className="mt-6 max-w-md text-lg leading-relaxed text-night-300">
            Nightowl plans fair shifts and wakes only the person who can help. The others sleep.
          </p>
          <div className="mt-9 flex flex-wrap items-center gap-x-6 gap-y-4">
            <a href="#waitlist" className="button px-6 py-3 text-base">
              Start free <ArrowRight className="size-4" />
            </a>
            <a href="#features" className="text-sm font-medium text-night-100 underline decoration-white/30 underline-offset-8 hover:decoration-glow">
              How it works
            </a>
          </div>
        </div>
        <ShiftPreview />
      </div>
    </section>
  )
}
