import { money, products } from '../data'

const most = Math.max(...products.map(({ revenue }) => revenue))

export function Products() {
  return (
    <table className="w-full text-sm">
      <thead>
        <tr className="text-left text-xs text-stone-500">
          <th className="pb-2 font-medium">Product</th>
          <th className="pb-2 text-right font-medium">Sold</th>
          <th className="pb-2 pl-6 font-medium">Revenue</th>
          <th className="hidden pb-2 text-right font-medium sm:table-cell">Stock</th>
        </tr>
      </thead>
      <tbody>
        {products.map(({ name, sold, revenue, stock }) => (
          <tr key={name} className="border-t border-stone-100">
            <td className="py-3 font-medium">{name}</td>
            <td className="text-right tabular-nums">{sold}</td>
            <td className="w-1/3 pl-6 tabular-nums">
              {money.format(revenue)}
              <div className="mt-1 h-1.5 rounded-full bg-stone-100">
                <div className="h-full rounded-full bg-teal-700" style={{ width: `${(100 * revenue) / most}%` }} />
              </div>
            </td>
            <td className={`hidden text-right sm:table-cell ${stock < 10 ? 'text-rose-700' : 'text-stone-500'}`}>
              {stock === 0 ? 'sold out' : stock}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
