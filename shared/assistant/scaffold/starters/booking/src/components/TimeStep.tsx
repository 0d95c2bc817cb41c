import { addMonths, isSunday, startOfToday } from 'date-fns';
import { DayPicker } from 'react-day-picker';
import { Controller, useFormContext } from 'react-hook-form';
import type { Booking } from '../lib/schema';
import { freeTimes, services } from '../lib/services';
import { FieldError } from './Field';

export function TimeStep() {
  const { register, control, watch, setValue, formState } = useFormContext<Booking>();
  const { errors } = formState;
  const service = services.find(({ id }) => id === watch('service'));
  const date = watch('date');
  const time = watch('time');
  const times = service && date ? freeTimes(date, service.minutes) : [];

  return (
    <div className="space-y-8">
      <fieldset>
        <legend className="mb-3 font-medium">What may we do for you?</legend>
        <div className="grid gap-3">
          {services.map((item) => (
            <label key={item.id} className="choice">
              <input
                type="radio"
                value={item.id}
                className="form-radio mt-1 border-stone-400 text-rose-700 focus:ring-rose-600 dark:bg-stone-950"
                {...register('service')}
              />
              <span className="flex-1">
                <span className="font-medium">{item.name}</span>
                <span className="block text-sm text-stone-500 dark:text-stone-400">{item.text}</span>
              </span>
              <span className="text-right text-sm">
                {item.price} €<span className="block text-stone-500 dark:text-stone-400">{item.minutes} min</span>
              </span>
            </label>
          ))}
        </div>
        <FieldError message={errors.service?.message} />
      </fieldset>
      <div className="grid gap-8 md:grid-cols-[auto_1fr]">
        <div>
          <p className="mb-3 font-medium">Which day?</p>
          <Controller
            control={control}
            name="date"
            render={({ field }) => (
              <DayPicker
                mode="single"
                selected={field.value}
                onSelect={(day) => {
                  field.onChange(day);
                  setValue('time', '');
                }}
                fromDate={startOfToday()}
                toDate={addMonths(startOfToday(), 3)}
                disabled={isSunday}
                weekStartsOn={1}
              />
            )}
          />
          <FieldError message={errors.date?.message} />
        </div>
        <div>
          <p className="mb-3 font-medium">At what time?</p>
          {times.length === 0 ? (
            <p className="rounded-2xl border border-dashed border-stone-300 p-5 text-sm text-stone-500 dark:border-stone-700 dark:text-stone-400">
              {service && date ? 'This day is full. The day after is often free.' : 'Choose a treatment and a day, and the free times appear here.'}
            </p>
          ) : (
            <div className="grid grid-cols-3 gap-2">
              {times.map((item) => (
                <button
                  key={item}
                  type="button"
                  aria-pressed={item === time}
                  onClick={() => setValue('time', item, { shouldValidate: true })}
                  className={`rounded-xl border py-2 text-sm tabular-nums transition ${
                    item === time ? 'border-rose-700 bg-rose-700 text-white' : 'border-stone-200 hover:border-rose-400 dark:border-stone-700'
                  }`}
                >
                  {item}
                </button>
              ))}
            </div>
          )}
          <FieldError message={errors.time?.message} />
        </div>
      </div>
    </div>
  );
}
