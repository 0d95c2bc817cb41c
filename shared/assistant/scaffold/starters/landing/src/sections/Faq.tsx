import { Plus } from 'lucide-react'
import { questions } from '../content'

export function Faq() {
  return (
    <section id="questions" className="wrap max-w-3xl pb-24">
      <h2 className="text-3xl font-bold tracking-tight">Questions</h2>
      <div className="mt-8 divide-y divide-night-100 border-y border-night-100 dark:divide-white/10 dark:border-white/10">
        {questions.map(([question, answer]) => (
          <details key={question} className="group py-5" name="questions">
            <summary className="flex cursor-pointer list-none items-center justify-between font-medium">
              {question}
              <Plus className="size-5 transition group-open-item:rotate-45 group-open:rotate-45" />
            </summary>
            <p className="lead mt-3 text-base">{answer}</p>
          </details>
        ))}
      </div>
    </section>
  )
}
