import { useForm } from 'react-hook-form'
import { useSwap, type Offer } from '~/store'

type Fields = Omit<Offer, 'id'>

export function OfferForm() {
  const offer = useSwap((s) => s.offer)
  const { register, handleSubmit, reset, formState } = useForm<Fields>({ defaultValues: { name: '', family: 'leaf', packets: 1 } })
  const { errors } = formState

  return (
    <form
      onSubmit={handleSubmit((fields) => {
        offer(fields)
        reset()
      })}
    >
      <label htmlFor="name">Seed</label>
      <input id="name" {...register('name', { required: 'Which seed is it?', minLength: { value: 3, message: 'Three letters or more.' } })} />
      {errors.name && <span className="error">{errors.name.message}</span>}
      <label htmlFor="family">You eat its</label>
      <select id="family" {...register('family')}>
        <option value="root">root</option>
        <option value="leaf">leaf</option>
        <option value="fruit">fruit</option>
      </select>
      <label htmlFor="packets">Packets</label>
      <input id="packets" type="number" {...register('packets', { valueAsNumber: true, min: { value: 1, message: 'At least one.' } })} />
      {errors.packets && <span className="error">{errors.packets.message}</span>}
      <button>Offer seeds</button>
    </form>
  )
}
