// Package schedule invokes functions at the times of schedules, as EventBridge Scheduler does (SAM's event type
// ScheduleV2).
//
// It contains when a schedule fires, the event, and the retries. It must not know how functions run (package runtime),
// templates (package stack), or the application. Package expression parses schedule expressions.
//
// # When a schedule fires
//
// The start of the platform enables the schedules: a rate fires immediately, cron at the minute. Schedules do not wait
// for one another. A schedule does not wait for its last invocation. Times at which the platform did not run are
// skipped. After the machine has slept, a schedule fires once, however many times it has missed.
//
// # How an event is delivered
//
// EventBridge Scheduler passes an event to Lambda, which invokes the function asynchronously. If the function fails,
// Lambda retries after one and two more minutes, within the limits of the function's EventInvokeConfig (by default
// twice within six hours). If Lambda does not accept the event because all instances are busy, the schedule retries
// with exponential backoff, within its MaximumRetryAttempts and MaximumEventAge. After the last attempt, the event is
// dropped and logged. A schedule has at most 64 events in flight: further ones are skipped and logged. Events that wait
// for a retry when the platform stops are lost, and logged.
//
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
package schedule
