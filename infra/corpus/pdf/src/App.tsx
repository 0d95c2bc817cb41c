import { useEffect, useState } from 'react'
import { euro, invoice as initial, net, tax, total } from './invoice'
import { save } from './pdf/save'

async function build(invoice: typeof initial, paid: boolean) {
  const [{ pdf }, { LetterDocument }, { withJsPdf }, { join, stamp }] = await Promise.all([
    import('@react-pdf/renderer'),
    import('./pdf/LetterDocument'),
    import('./pdf/withJsPdf'),
    import('./pdf/join'),
  ])
  const letter = await pdf(<LetterDocument invoice={invoice} />).toBlob()
  const document = await join([await letter.arrayBuffer(), withJsPdf(invoice)])
  if (paid) await stamp(document, 'PAID')
  return { pages: document.getPageCount(), bytes: await document.save() }
}

export default function App() {
  const [invoice, setInvoice] = useState(initial)
  const [paid, setPaid] = useState(false)
  const [result, setResult] = useState<{ pages: number; bytes: Uint8Array } | null>(null)

  useEffect(() => {
    let current = true
    void build(invoice, paid).then((value) => current && setResult(value))
    return () => {
      current = false
    }
  }, [invoice, paid])

  const setCount = (index: number, count: number) =>
    setInvoice({ ...invoice, lines: invoice.lines.map((line, other) => (other === index ? { ...line, count } : line)) })

  return (
    <main className="mx-auto max-w-3xl space-y-6 p-6">
      <h1 className="text-3xl font-bold">Invoices</h1>
      <section className="sheet">
        <p className="mb-6 flex justify-between">
          <strong>{invoice.number}</strong> {invoice.customer}
        </p>
        <table className="w-full text-sm [&_td]:border-b [&_td]:border-neutral-200 [&_td]:py-2">
          <tbody>
            {invoice.lines.map((line, index) => (
              <tr key={line.text}>
                <td>{line.text}</td>
                <td>
                  <input
                    type="number"
                    min={0}
                    value={line.count}
                    aria-label={`Count of ${line.text}`}
                    onChange={(event) => setCount(index, event.target.valueAsNumber || 0)}
                    className="w-16 rounded border border-neutral-300 px-2 py-1"
                  />
                </td>
                <td className="text-right tabular-nums">{euro(line.price * line.count)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={2}>
                {euro(net(invoice))} and {tax * 100} % tax
              </td>
              <td className="text-right font-bold tabular-nums">{euro(total(invoice))}</td>
            </tr>
          </tfoot>
        </table>
      </section>
      <div className="flex flex-wrap items-center gap-3">
        <button className="action" disabled={!result} onClick={() => result && save(result.bytes, `${invoice.number}.pdf`)}>
          Save as PDF
        </button>
        <button className="action" aria-pressed={paid} onClick={() => setPaid(!paid)}>
          {paid ? 'Remove the stamp' : 'Stamp as paid'}
        </button>
        <output className="text-sm text-neutral-500">
          {result ? `Ready: ${result.pages} pages, ${Math.ceil(result.bytes.length / 1024)} KiB` : 'Writing'}
        </output>
      </div>
    </main>
  )
}
