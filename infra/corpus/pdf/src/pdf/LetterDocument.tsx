import { Document, Page, StyleSheet, Text, View } from '@react-pdf/renderer'
import type { Invoice } from '../invoice'

const styles = StyleSheet.create({
  page: { padding: 56, fontSize: 12, lineHeight: 1.5 },
  title: { fontSize: 24, marginBottom: 24 },
  line: { borderBottom: '1pt solid #b45309', marginVertical: 16 },
})

export function LetterDocument({ invoice }: { invoice: Invoice }) {
  return (
    <Document title={`Letter for ${invoice.number}`}>
      <Page size="A4" style={styles.page}>
        <Text style={styles.title}>Thank you</Text>
        <Text>{invoice.customer}</Text>
        <View style={styles.line} />
        <Text>We hope that the shelves carry many loaves. The invoice {invoice.number} is on the next page.</Text>
      </Page>
    </Document>
  )
}
