const steps = [
  ['2017 –', 'Own studio, Gothenburg'],
  ['2013 – 2017', 'Senior designer, Fält, Copenhagen'],
  ['2010 – 2013', 'Master of graphic design, Konstfack'],
]

export function About() {
  return (
    <div className="grid gap-12 py-8 sm:grid-cols-2">
      <h1 className="text-5xl font-light tracking-tight sm:text-6xl">I get lost easily. That is why I do this.</h1>
      <div className="space-y-6 font-display text-lg leading-relaxed">
        <p>Most signs are made by people who know the way. I visit a place without a map, write down each wrong turn, and begin there.</p>
        <p>I work alone or with two friends: a type designer and a carpenter.</p>
        <table className="w-full font-mono text-sm">
          <tbody>
            {steps.map(([time, what]) => (
              <tr key={time} className="border-t border-rule">
                <td className="py-3 pr-6 align-top whitespace-nowrap text-faint">{time}</td>
                <td className="py-3">{what}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}
