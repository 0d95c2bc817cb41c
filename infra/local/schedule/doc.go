// Package schedule invokes functions by the clock, as schedules of EventBridge Scheduler (SAM's event type ScheduleV2) do.
//
// It contains when a schedule fires, the event, and what happens if the event can't be delivered. It must not know how
// functions run (package runtime), templates (package stack), or the application. Package expression parses schedule
// expressions.
//
// # When a schedule fires
//
// The start of the platform enables the schedules: a rate fires at once or at its StartDate, cron at the minute. Schedules do
// not wait for one another, nor for their own last invocation. Times at which the platform did not run are skipped. After
// the machine has slept, a schedule fires once, however many times it has missed.
//
// # How an event is delivered
//
// EventBridge Scheduler passes an event to Lambda, which invokes the function asynchronously. If the function fails, Lambda
// retries after one and two more minutes, within the limits of the function's EventInvokeConfig (by default twice within
// six hours). Then the event is dropped and logged. If Lambda does not accept the event because all instances are busy, the
// schedule retries with exponential backoff, within its MaximumRetryAttempts and MaximumEventAge. After that, or at once if a
// retry would be useless (there is no such function), the event goes to the DeadLetterQueue. A schedule has at most 64 events
// in flight: further ones are skipped and logged. Events that wait for a retry when the platform stops are lost, and logged.
//
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html,
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/configuring-schedule-dlq.html
package schedule
