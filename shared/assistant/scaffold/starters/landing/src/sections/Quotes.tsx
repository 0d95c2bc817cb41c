import { quotes } from '../content'

export function Quotes() {
  return (
    <section className="bg-night-50 py-20 dark:bg-night-900">
      <div className="wrap grid gap-6 md:grid-cols-3">
        {quotes.map((quote) => (
          <figure key={quote.name} className="flex flex-col rounded-3xl bg-white p-7 shadow-sm dark:bg-night-950">
            <blockquote className="flex-1 text-lg leading-snug font-medium text-balance">“{quote.text}”</blockquote>
            <figcaption className="mt-6 text-sm">
              <span className="font-semibold">{quote.name}</span>
              <span className="block text-night-500 dark:text-night-300">{quote.role}</span>
            </figcaption>
          </figure>
        ))}
      </div>
    </section>
  )
}
