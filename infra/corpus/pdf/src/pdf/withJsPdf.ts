import { jsPDF } from 'jspdf'
import autoTable from 'jspdf-autotable'
import { euro, type Invoice, total } from '../invoice'

export function withJsPdf(invoice: Invoice): ArrayBuffer {
  const document = new jsPDF({ unit: 'mm', format: 'a4' })
  document.setFontSize(22).text(`Invoice ${invoice.number}`, 20, 30)
  document.setFontSize(11).text(invoice.customer, 20, 40)
  autoTable(document, {
    startY: 52,
    margin: { left: 20, right: 20 },
    head: [['Item', 'Count', 'Price']],
    body: invoice.lines.map(({ text, count, price }) => [text, count, price.toFixed(2)]),
    foot: [['Total with tax', '', euro(total(invoice)).replace('€', 'EUR')]],
    headStyles: { fillColor: [180, 83, 9] },
  })
  return document.output('arraybuffer')
}
