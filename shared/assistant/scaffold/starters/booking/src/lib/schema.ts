import { isSunday, startOfToday } from 'date-fns';
import { z } from 'zod';

export const bookingSchema = z
  .object({
    service: z.string({ required_error: 'Choose a treatment.' }).min(1, 'Choose a treatment.'),
    date: z
      .date({ required_error: 'Choose a day.', invalid_type_error: 'Choose a day.' })
      .min(startOfToday(), 'This day is over.')
      .refine((date) => !isSunday(date), 'We are closed on Sundays.'),
    time: z.string({ required_error: 'Choose a time.' }).min(1, 'Choose a time.'),
    name: z.string().trim().min(2, 'Please tell us your name.'),
    email: z.string().email('This is not an e-mail address.'),
    phone: z
      .string()
      .trim()
      .regex(/^\+?[\d\s()-]{6,20}$/, 'Use digits only, such as +33 1 23 45 67 89.')
      .or(z.literal('')),
    reminder: z.enum(['email', 'sms']),
    notes: z.string().max(300, 'At most 300 characters.'),
  })
  .refine((values) => values.reminder !== 'sms' || values.phone !== '', {
    path: ['phone'],
    message: 'A text message needs a number.',
  });

export type Booking = z.infer<typeof bookingSchema>;
export const steps: { title: string; fields: (keyof Booking)[] }[] = [
  { title: 'Treatment and time', fields: ['service', 'date', 'time'] },
  { title: 'About you', fields: ['name', 'email', 'phone', 'reminder', 'notes'] },
];
