import { degrees, PDFDocument, rgb, StandardFonts } from 'pdf-lib'

/** Returns a document with the pages of all documents, and a last page with conditions. */
export async function join(documents: ArrayBuffer[]): Promise<PDFDocument> {
  const result = await PDFDocument.create()
  for (const bytes of documents) {
    const source = await PDFDocument.load(bytes)
    const pages = await result.copyPages(source, source.getPageIndices())
    pages.forEach((page) => result.addPage(page))
  }
  const font = await result.embedFont(StandardFonts.TimesRoman)
  const last = result.addPage([595, 842])
  last.drawText('Conditions', { x: 56, y: 760, size: 24, font })
  last.drawText('Please pay within 14 days. Wood moves; this is not a fault.', { x: 56, y: 720, size: 12, font })
  return result
}

export async function stamp(document: PDFDocument, text: string) {
  const font = await document.embedFont(StandardFonts.HelveticaBold)
  for (const page of document.getPages()) {
    page.drawText(text, { x: 120, y: 300, size: 96, font, rotate: degrees(35), color: rgb(0.7, 0.33, 0.04), opacity: 0.25 })
  }
}
