import { useFormContext } from 'react-hook-form';
import type { Booking } from '../lib/schema';
import { Field, inputClass, textareaClass } from './Field';

export function PersonStep() {
  const { register, watch, formState } = useFormContext<Booking>();
  const { errors } = formState;
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <Field label="Name" error={errors.name?.message}>
        <input className={inputClass} autoComplete="name" {...register('name')} />
      </Field>
      <Field label="E-mail" error={errors.email?.message}>
        <input className={inputClass} type="email" autoComplete="email" {...register('email')} />
      </Field>
      <Field label="Phone (optional)" error={errors.phone?.message}>
        <input className={inputClass} type="tel" autoComplete="tel" {...register('phone')} />
      </Field>
      <fieldset>
        <legend className="mb-1.5 text-sm font-medium">Remind me by</legend>
        <div className="flex gap-5 py-2.5">
          {(['email', 'sms'] as const).map((value) => (
            <label key={value} className="flex items-center gap-2">
              <input type="radio" value={value} className="form-radio text-rose-700 focus:ring-rose-600" {...register('reminder')} />
              {value === 'email' ? 'E-mail' : 'Text message'}
            </label>
          ))}
        </div>
      </fieldset>
      <div className="sm:col-span-2">
        <Field label={`Anything we should know? (${watch('notes').length}/300)`} error={errors.notes?.message}>
          <textarea rows={3} className={textareaClass} {...register('notes')} />
        </Field>
      </div>
    </div>
  );
}
