import { features } from '../content'

export function Features() {
  return (
    <section id="features" className="wrap py-24">
      <h2 className="max-w-xl text-3xl font-bold tracking-tight text-balance sm:text-4xl">Made by people who were woken too often</h2>
      <p className="lead mt-4 max-w-xl">Six things that change how a bad night feels.</p>
      <ul className="mt-14 grid gap-x-10 gap-y-12 sm:grid-cols-2 lg:grid-cols-3">
        {features.map(({ icon: Icon, title, text }) => (
          <li key={title}>
            <span className="grid size-11 place-items-center rounded-2xl bg-night-900 text-glow dark:bg-night-700/60">
              <Icon className="size-5" />
            </span>
            <h3 className="mt-5 font-semibold">{title}</h3>
            <p className="mt-2 text-sm leading-relaxed text-night-500 dark:text-night-300">{text}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}
