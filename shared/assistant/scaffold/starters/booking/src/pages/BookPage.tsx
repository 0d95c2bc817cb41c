import { zodResolver } from '@hookform/resolvers/zod';
import { format } from 'date-fns';
import { CheckCircle2 } from 'lucide-react';
import { useState } from 'react';
import { FormProvider, useForm } from 'react-hook-form';
import { Link } from 'react-router-dom';
import { PersonStep } from '../components/PersonStep';
import { Summary } from '../components/Summary';
import { TimeStep } from '../components/TimeStep';
import { Booking, bookingSchema, steps } from '../lib/schema';
import { addVisit, Visit } from '../lib/visits';

export function BookPage() {
  const [step, setStep] = useState(0);
  const [visit, setVisit] = useState<Visit | null>(null);
  const form = useForm<Booking>({
    resolver: zodResolver(bookingSchema),
    mode: 'onTouched',
    defaultValues: { service: '', time: '', name: '', email: '', phone: '', reminder: 'email', notes: '' },
  });

  const next = async () => {
    if (await form.trigger(steps[step].fields)) setStep(step + 1);
  };

  if (visit) {
    return (
      <div className="card mx-auto mt-8 max-w-lg text-center">
        <CheckCircle2 size={44} className="mx-auto text-emerald-600 dark:text-emerald-400" />
        <h1 className="mt-4 text-2xl font-semibold">See you soon, {visit.name}</h1>
        <p className="mt-2 text-stone-500 dark:text-stone-400">
          {format(visit.date, 'EEEE, d MMMM')} at {visit.time}. Come ten minutes early for a cup of tea.
        </p>
        <Link to="/visits" className="btn mt-6">
          My visits
        </Link>
      </div>
    );
  }

  return (
    <FormProvider {...form}>
      <h1 className="mt-4 text-4xl font-semibold tracking-tight sm:text-5xl">Book a quiet hour</h1>
      <ol className="mb-6 mt-5 flex gap-6 text-sm">
        {steps.map(({ title }, index) => (
          <li key={title} aria-current={index === step ? 'step' : undefined} className={index === step ? 'font-medium text-rose-700 dark:text-rose-400' : 'text-stone-500'}>
            {index + 1}. {title}
          </li>
        ))}
      </ol>
      <div className="grid gap-6 lg:grid-cols-[1fr_18rem]">
        <form
          noValidate
          className="card"
          onSubmit={(event) => {
            event.preventDefault();
            if (step < steps.length - 1) void next();
            else void form.handleSubmit((values) => setVisit(addVisit(values)))();
          }}
        >
          {step === 0 ? <TimeStep /> : <PersonStep />}
          <div className="mt-8 flex justify-end gap-2">
            {step > 0 && (
              <button type="button" className="btn-plain" onClick={() => setStep(step - 1)}>
                Back
              </button>
            )}
            <button type="submit" className="btn">
              {step < steps.length - 1 ? 'Continue' : 'Book'}
            </button>
          </div>
        </form>
        <Summary />
      </div>
    </FormProvider>
  );
}
